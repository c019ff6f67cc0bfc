//! The command line, as `docs/operations.md` describes it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use model::{ApiKeyId, AuditAction, OrganizationId, Scope, SyncId};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Retrieval for agents: search, reading, private files, in one program.
#[derive(Debug, Parser)]
#[command(name = "retrieval-server", version, about)]
pub struct Cli {
    /// Settings file (TOML); without it the built-in defaults hold.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service (the default).
    Serve,
    /// Organizations, API keys and balances.
    #[command(subcommand)]
    Admin(Admin),
    /// The shared web index.
    #[command(subcommand)]
    Web(Web),
    /// The search indexes, which can always be made anew from the database.
    #[command(subcommand)]
    Index(Index),
    /// Bring the database's tables up to this version.
    Migrate,
    /// The settings.
    #[command(subcommand)]
    Config(Config),
    /// Reads documents for a server, in a process with little rights and memory.
    #[command(hide = true)]
    ExtractWorker,
}

#[derive(Debug, Subcommand)]
pub enum Admin {
    /// Organizations.
    #[command(subcommand)]
    Org(Org),
    /// API keys.
    #[command(subcommand)]
    Key(Key),
    /// Prepaid balances.
    #[command(subcommand)]
    Balance(Balance),
    /// What agents said of results.
    #[command(subcommand)]
    Feedback(Feedback),
    /// Indexing runs over files.
    #[command(subcommand)]
    Run(Run),
    /// What was changed of organizations, keys and balances, and by whom: newest first, one a line.
    Audit(Audit),
}

#[derive(Args, Debug)]
pub struct Audit {
    /// Of this organization alone, which may be gone by now.
    #[arg(long, value_name = "UUID")]
    pub org: Option<OrganizationId>,
    /// Of this kind alone, such as `key.created`.
    #[arg(long, value_parser = action)]
    pub action: Option<AuditAction>,
    /// Of this time or later.
    #[arg(long, value_name = "RFC3339", value_parser = rfc3339)]
    pub since: Option<OffsetDateTime>,
    /// So many at most; without it, all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub enum Run {
    /// The files that the run worked on, each with its outcome and why it failed; those that a later run has worked on
    /// since are that run's.
    Show { sync_id: SyncId },
}

#[derive(Debug, Subcommand)]
pub enum Org {
    Create {
        #[arg(long)]
        name: String,
        /// Bill its searches, starting with this balance. Without it the organization is not billed.
        #[arg(long, value_name = "N")]
        prepaid_cents: Option<u64>,
    },
    List,
}

#[derive(Debug, Subcommand)]
pub enum Key {
    /// Make a key. This is the only time that it is shown.
    Create(KeyCreate),
    List {
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
    },
    /// From now on the key is refused (within 5 seconds by servers that run).
    Revoke { key_id: ApiKeyId },
}

#[derive(Args, Debug)]
pub struct KeyCreate {
    #[arg(long, value_name = "UUID")]
    pub org: OrganizationId,
    #[arg(long)]
    pub name: String,
    /// What it may do, such as `search:read,document:read`; without it, everything.
    #[arg(long, value_delimiter = ',', value_parser = scope)]
    pub scopes: Option<Vec<Scope>>,
    /// Requests per second, in place of the default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit_rps: Option<u32>,
    #[arg(long, value_name = "RFC3339", value_parser = rfc3339)]
    pub expires_at: Option<OffsetDateTime>,
}

#[derive(Debug, Subcommand)]
pub enum Feedback {
    /// Every event with its query, the ranked list and the document, one a line: for evaluation.
    Export,
}

#[derive(Debug, Subcommand)]
pub enum Balance {
    /// What is left.
    Show {
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
    },
    /// Every entry, oldest first, one a line: together they are the balance.
    Ledger {
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
    },
    Add {
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
        #[arg(long, value_name = "N")]
        cents: u64,
    },
}

#[derive(Debug, Subcommand)]
pub enum Web {
    /// Add pages to the shared web index; returns once they can be found.
    Import {
        /// A file, or `-` for standard input.
        file: PathBuf,
        /// Without it the content tells; either may be packed with gzip.
        #[arg(long, value_enum)]
        format: Option<Format>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// One JSON object a line: url, title, text or markdown or html, description, published_at, language,
    /// country, labels.
    Jsonl,
    /// A web archive (WARC 1.0, 1.1): responses that succeeded with HTML, text, markdown or PDF.
    Warc,
}

#[derive(Debug, Subcommand)]
pub enum Index {
    /// Empty the index and fill it again from the database.
    Rebuild {
        /// Only this one.
        #[arg(long, value_enum)]
        index: Option<IndexChoice>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum IndexChoice {
    Web,
    Workspace,
}

#[derive(Debug, Subcommand)]
pub enum Config {
    /// Read the settings and say what is wrong with them.
    Check,
}

fn scope(text: &str) -> Result<Scope, String> {
    text.parse().map_err(|_| {
        let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
        format!("unknown scope `{text}`; known are {}", known.join(", "))
    })
}

fn action(text: &str) -> Result<AuditAction, String> {
    text.parse().map_err(|_| {
        let known: Vec<&str> = AuditAction::ALL.iter().map(|action| action.as_str()).collect();
        format!("unknown action `{text}`; known are {}", known.join(", "))
    })
}

fn rfc3339(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &Rfc3339)
        .map_err(|_| format!("`{text}` is not an RFC 3339 time such as 2027-01-31T00:00:00Z"))
}
