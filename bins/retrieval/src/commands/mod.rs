//! Commands, one file each.

mod feedback;
mod files;
mod keys;
mod login;
mod mcp;
mod me;
mod read;
mod research;
mod search;
mod shell;
mod usage;

use retrieval_client::types::{SearchIndex, SearchScope, Warning};

use crate::api_values;
use crate::cli::{Cli, Command, Common, Scope};
use crate::connection;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;

pub async fn run(cli: Cli, context: &Context) -> Result<(), Failure> {
    let common = &cli.common;
    let terminal = &context.terminal;
    match cli.command {
        Command::Search(arguments) => search::run(&arguments, common, terminal).await,
        Command::Read(arguments) => read::run(&arguments, &connection::client(common)?, terminal).await,
        Command::Research(arguments) => research::run(&arguments, common, context).await,
        Command::Feedback(arguments) => feedback::run(arguments, &connection::client(common)?, terminal).await,
        Command::Files(arguments) => files::run(arguments, &connection::client(common)?, context).await,
        Command::Keys(arguments) => keys::run(arguments, &connection::client(common)?, terminal).await,
        Command::Usage(arguments) => usage::run(arguments, &connection::client(common)?, terminal).await,
        Command::Me => me::run(&connection::client(common)?, terminal).await,
        Command::Login(arguments) => login::run(arguments, common, context).await,
        Command::Mcp(arguments) => mcp::run(&arguments, common).await,
        Command::Completions { shell } => shell::completions(shell, terminal),
        Command::Man { out } => shell::man(out.as_deref(), terminal),
    }
}

/// Returns the indexes to search, and the workspace. Without a workspace the client asks the service.
fn search_scope(scope: Scope, workspace_id: &Option<String>, common: &Common) -> Result<SearchScope, Failure> {
    let indexes = match scope {
        Scope::Web => return Ok(SearchScope::default()),
        Scope::Workspace => vec![SearchIndex::Workspace],
        Scope::All => vec![SearchIndex::Web, SearchIndex::Workspace],
    };
    Ok(SearchScope { indexes: Some(indexes), workspace_id: connection::workspace_id(workspace_id, common)? })
}

/// Prints the warnings of a response.
fn print_warnings(warnings: &[Warning], terminal: &Terminal) {
    for warning in warnings {
        terminal.note(&format!("warning: {} ({})", warning.message, api_values::wire(&warning.code)));
    }
}
