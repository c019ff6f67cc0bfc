//! `retrieval login`.

use openapi::parameters::PageQuery;
use retrieval_client::types::validation::parse_uuid;
use retrieval_client::{Client, Error};
use serde_json::json;

use crate::base_url::{is_same_service, with_scheme};
use crate::cli::{Common, Login};
use crate::config_file::{self, ConfigFile};
use crate::connection::{self, DEFAULT_BASE_URL, non_empty};
use crate::context::Context;
use crate::failure::Failure;
use crate::{key_source, prompt};

/// Reads the key from the prompt or standard input. Flag and environment are ignored, because they may hold another
/// key.
pub async fn run(arguments: Login, common: &Common, context: &Context) -> Result<(), Failure> {
    if let Some(id) = arguments.workspace_id.as_deref().filter(|id| parse_uuid(id).is_none()) {
        return Err(Failure::Usage(format!("`{id}` is not a UUID: give the organization's id")));
    }
    let path = connection::settings_path(common)?;
    let stored = config_file::load(&path)?.unwrap_or_default();
    let base_url = non_empty(&common.base_url).or(stored.base_url.as_deref()).unwrap_or(DEFAULT_BASE_URL);
    let base_url = with_scheme(base_url);

    let question = format!("API key for {base_url}");
    let input = tokio::task::spawn_blocking(move || prompt::read_secret(&question)).await;
    let unreadable = |source| Failure::Local { what: "cannot read the key".to_owned(), source };
    let key = input.map_err(|error| unreadable(std::io::Error::other(error)))?.map_err(unreadable)?;
    if key.is_empty() {
        return Err(Failure::Usage("no API key given".to_owned()));
    }

    verify(&connection::build(common, &base_url, &key)?).await?;

    // Organization ids are specific to a service.
    let stored_workspace = stored
        .workspace_id
        .filter(|_| is_same_service(stored.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL), &base_url));
    let workspace_id = arguments.workspace_id.or(stored_workspace);
    let is_overridden = key_source::variable().is_some_and(|other| other != key);
    let settings = ConfigFile { base_url: Some(base_url.clone()), api_key: Some(key), workspace_id };
    config_file::save(&path, &settings)?;
    let terminal = &context.terminal;
    if terminal.json {
        return terminal.event(&json!({ "base_url": base_url, "config": path.display().to_string() }));
    }
    terminal.print(&format!("key verified and stored in {}\n", path.display()))?;
    if is_overridden {
        let variable = key_source::VARIABLE;
        terminal.note(&format!("note: {variable} holds another key, which is used instead: unset it"));
    }
    Ok(())
}

/// Checks the key of a client, whatever its scopes.
async fn verify(client: &Client) -> Result<(), Error> {
    match client.me().await {
        // A service of an earlier version. Listing files is free, and a missing scope proves that the key is valid.
        Err(error) if error.api().is_some_and(|api| api.status == 404) => {
            let page = PageQuery { limit: Some("1".to_owned()), ..PageQuery::default() };
            match client.list_files_page(&page).await {
                Err(Error::Api(error)) if error.code == "insufficient_scope" => Ok(()),
                listed => listed.map(drop),
            }
        }
        me => me.map(drop),
    }
}
