//! `retrieval login`.

use retrieval_client::Error;
use retrieval_client::types::validation::parse_uuid;
use serde_json::json;

use crate::cli::{Common, Login};
use crate::config_file::{self, ConfigFile};
use crate::connection::{self, DEFAULT_BASE_URL, given};
use crate::context::Context;
use crate::failure::Failure;
use crate::prompt;

/// The key comes from the prompt or from standard input, never from flag or environment: one that happens to be set
/// there is not meant.
pub async fn run(arguments: Login, common: &Common, context: &Context) -> Result<(), Failure> {
    if let Some(id) = arguments.workspace_id.as_deref().filter(|id| parse_uuid(id).is_none()) {
        return Err(Failure::Usage(format!("the organization `{id}` is no UUID")));
    }
    let path = connection::settings_path(common)?;
    let stored = config_file::load(&path)?;
    let base_url = given(&common.base_url).or(stored.base_url.as_deref()).unwrap_or(DEFAULT_BASE_URL).to_owned();

    let question = format!("API key for {base_url}");
    let asked = tokio::task::spawn_blocking(move || prompt::secret(&question)).await;
    let unreadable = |source| Failure::Local { what: "cannot read the key".to_owned(), source };
    let key = asked.map_err(|error| unreadable(std::io::Error::other(error)))?.map_err(unreadable)?;
    if key.is_empty() {
        return Err(Failure::Usage("no key was given".to_owned()));
    }

    // Listing files costs nothing, and every key may ask: one without the scope is told so, and is good all the same.
    match connection::build(common, &base_url, &key)?.list_files().await {
        Ok(_) => {}
        Err(Error::Api(error)) if error.code == "insufficient_scope" => {}
        Err(error) => return Err(error.into()),
    }

    // Another service has other organizations.
    let kept = stored.workspace_id.filter(|_| stored.base_url.as_ref() == Some(&base_url));
    let workspace_id = arguments.workspace_id.or(kept);
    let settings = ConfigFile { base_url: Some(base_url.clone()), api_key: Some(key), workspace_id };
    config_file::save(&path, &settings)?;
    let terminal = &context.terminal;
    if terminal.json {
        return terminal.event(&json!({ "base_url": base_url, "config": path.display().to_string() }));
    }
    terminal.print(&format!("the key is good, and kept in {}\n", path.display()))
}
