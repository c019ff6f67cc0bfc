//! `retrieval keys`.

use retrieval_client::Client;
use retrieval_client::types::{KeyCreateRequest, KeyEntry, KeyListResponse};

use crate::api_values;
use crate::cli::{CreateKey, Keys};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::appearance::{Appearance, Style};
use crate::terminal::table::Table;
use crate::terminal::text::{fit, one_line, wrap};

const INDENT: &str = "  ";

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

/// Returns one line per key for pipes and files, and one block per key for terminals, which are too narrow for all columns.
fn render(list: &KeyListResponse, appearance: &Appearance) -> String {
    if appearance.width == usize::MAX || list.keys.is_empty() {
        return table(list, appearance);
    }
    let blocks: Vec<String> = list.keys.iter().map(|key| block(key, appearance)).collect();
    blocks.join("\n")
}

fn block(key: &KeyEntry, appearance: &Appearance) -> String {
    let mut text = appearance.paint(Style::Title, &fit(&one_line(&key.name), appearance.width));
    text.push('\n');
    let facts = format!(
        "{}..., {}, {} requests per second, {}",
        key.key_prefix,
        api_values::wire(&key.status),
        key.limit_rps,
        key.expires_at.as_ref().map_or_else(|| "never expires".to_owned(), |time| format!("expires {time}")),
    );
    for part in [key.api_key_id.to_string(), facts, key.scopes.join(" ")] {
        for line in wrap(&one_line(&part), appearance.width.saturating_sub(INDENT.len())) {
            text.push_str(&format!("{INDENT}{line}\n"));
        }
    }
    text
}

fn table(list: &KeyListResponse, appearance: &Appearance) -> String {
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
    let request = KeyCreateRequest { name, scopes, limit_rps, expires_at, ..Default::default() };
    let created = client.create_key(&request).await;
    let answer = created.map_err(|error| Failure::of_creation(error, "retrieval keys list"))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::text::width;
    use serde_json::json;

    #[test]
    fn scopes_are_shown_on_narrow_terminals() {
        let id = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";
        let scopes = ["search:read", "document:read", "feedback:write", "files:read", "files:write", "usage:read"];
        let key = json!({ "api_key_id": id, "name": "first key", "key_prefix": "rsk_abcdefgh", "scopes": scopes,
            "limit_rps": 100, "status": "active", "created_at": "2026-01-05T10:00:00Z" });
        let list: KeyListResponse =
            serde_json::from_value(json!({ "request_id": id, "keys": [key] })).expect("a response");
        for columns in [40, 80, 120] {
            let text = render(&list, &Appearance { colour: false, width: columns });
            for part in ["first key", id, "rsk_abcdefgh...", "active", "never expires"].iter().chain(&scopes) {
                assert!(text.contains(part), "{columns}: {part} is missing in {text}");
            }
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}: {text}");
        }
        // Programs read one line per key.
        assert_eq!(render(&list, &Appearance { colour: false, width: usize::MAX }).lines().count(), 2);
    }
}
