//! `retrieval keys`.

use retrieval_client::Client;
use retrieval_client::types::{KeyCreateRequest, KeyListResponse};

use crate::api_values;
use crate::cli::{CreateKey, Keys};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::appearance::Appearance;
use crate::terminal::table::Table;

pub async fn run(arguments: Keys, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    match arguments {
        Keys::List => list(client, terminal).await,
        Keys::Create(arguments) => create(arguments, client, terminal).await,
        Keys::Revoke { api_key_id } => revoke(&api_key_id, client, terminal).await,
    }
}

async fn list(client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let answer = client.list_keys().await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.print(&render(&answer, &terminal.appearance))
}

fn render(list: &KeyListResponse, appearance: &Appearance) -> String {
    let mut table = Table::with_notes(&["NAME", "ID", "KEY", "STATUS", "LIMIT", "EXPIRES", "SCOPES"]);
    for key in &list.keys {
        table.row([
            key.name.clone(),
            key.api_key_id.to_string(),
            format!("{}...", key.key_prefix),
            api_values::wire(&key.status),
            key.limit_rps.to_string(),
            key.expires_at.clone().unwrap_or_else(|| "never".to_owned()),
            key.scopes.join(" "),
        ]);
    }
    table.render(appearance)
}

/// Creates a key. Standard output is the key alone, for scripts.
async fn create(arguments: CreateKey, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let CreateKey { name, scopes, limit_rps, expires_at } = arguments;
    let scopes = (!scopes.is_empty()).then_some(scopes);
    let answer =
        client.create_key(&KeyCreateRequest { name, scopes, limit_rps, expires_at, ..Default::default() }).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.content(&answer.key)?;
    let id = answer.entry.api_key_id;
    terminal.note(&format!("key {id}: store it now, it is not shown again"));
    Ok(())
}

async fn revoke(api_key_id: &str, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let answer = client.revoke_key(api_key_id).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.content(&format!("revoked {} ({})", answer.entry.api_key_id, answer.entry.name))
}
