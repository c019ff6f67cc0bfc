//! Command line arguments. `docs/operations.md` describes them for operators.

use std::path::PathBuf;

use app::{accounts, api_keys};
use clap::builder::RangedI64ValueParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use model::{ApiKeyId, AuditAction, OrganizationId, Scope, SyncId};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::role::Role;

/// Retrieval service for agents: search, reading, private files.
#[derive(Debug, Parser)]
#[command(name = "retrieval-server", version, about)]
pub struct Cli {
    /// Settings file (TOML) [default: built-in settings].
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub serve: Serve,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// Returns the command: `serve` unless another one is given. Its options may precede it.
    ///
    /// # Errors
    /// An option of `serve` precedes another command, which would ignore it.
    pub fn into_command(self) -> Result<Command, clap::Error> {
        let Self { serve: before, command, .. } = self;
        match command {
            None => Ok(Command::Serve(before)),
            Some(Command::Serve(after)) => Ok(Command::Serve(Serve {
                print_key: before.print_key || after.print_key,
                role: after.role.or(before.role),
            })),
            Some(command) => match before.given() {
                None => Ok(command),
                Some(option) => {
                    let message = format!("`{option}` is an option of `serve`: leave it out");
                    Err(Self::command().error(ErrorKind::ArgumentConflict, message))
                }
            },
        }
    }
}

#[derive(Args, Debug, Default)]
pub struct Serve {
    /// Print the key of the first start even if standard output is not a terminal.
    #[arg(long)]
    pub print_key: bool,
    /// Tasks of this instance [default: all].
    #[arg(long, value_name = "ROLE")]
    pub role: Option<Role>,
}

impl Serve {
    /// Returns the first option that is given.
    fn given(&self) -> Option<&'static str> {
        let Self { print_key, role } = self;
        if *print_key { Some("--print-key") } else { role.map(|_| "--role") }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service (default).
    Serve(Serve),
    /// Manage organizations, API keys and balances.
    #[command(subcommand)]
    Admin(Admin),
    /// Manage the shared web index.
    #[command(subcommand)]
    Web(Web),
    /// Manage the search indexes.
    #[command(subcommand)]
    Index(Index),
    /// Create or upgrade the database schema.
    Migrate,
    /// Write a backup of the embedded data to a new folder. Servers may keep running.
    Backup {
        /// New or empty folder of the backup.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Restore a backup into an empty data folder.
    Restore {
        /// Folder of the backup.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Compare objects, database and index. Exit status 1 if there are problems.
    Verify,
    /// Inspect the settings.
    #[command(subcommand)]
    Config(Config),
    /// Check this installation: data folder, backends, models, sandbox, clocks, certificate, public URL, backup; index a probe
    /// document.
    Doctor {
        /// Print one JSON object per check [default: a table on a terminal].
        #[arg(long)]
        json: bool,
    },
    /// Extract documents for a server, in a confined process.
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
    /// Feedback on results.
    #[command(subcommand)]
    Feedback(Feedback),
    /// Indexing runs.
    #[command(subcommand)]
    Run(Run),
    /// Embedded object store.
    #[command(subcommand)]
    Storage(Storage),
    /// List changes of organizations, keys, balances, webhooks and the web index with their actors, newest first.
    Audit(Audit),
}

#[derive(Args, Debug)]
pub struct Audit {
    /// Organization whose entries to list; it may be deleted.
    #[arg(long, value_name = "UUID")]
    pub org: Option<OrganizationId>,
    /// Action to list, such as `key.created`.
    #[arg(long, value_parser = action)]
    pub action: Option<AuditAction>,
    /// Earliest time of entries.
    #[arg(long, value_name = "RFC3339", value_parser = rfc3339)]
    pub since: Option<OffsetDateTime>,
    /// Maximum number of entries [default: all].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub enum Run {
    /// List the files of a run with their outcomes and reasons of failure, except files that a later run processed.
    Show { sync_id: SyncId },
}

#[derive(Debug, Subcommand)]
pub enum Storage {
    /// Bind the PostgreSQL database to the objects in the data folder, as after a restore. Servers refuse others.
    Bind,
}

#[derive(Debug, Subcommand)]
pub enum Org {
    /// Create an organization.
    Create {
        /// Name of the organization.
        #[arg(long, value_parser = organization_name)]
        name: String,
        /// Initial balance of a billed organization [default: not billed].
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least(0))]
        prepaid_cents: Option<u64>,
    },
    /// List all organizations with their state, files, bytes and documents.
    List {
        /// Print one JSON object per organization [default: a table on a terminal].
        #[arg(long)]
        json: bool,
    },
    /// Delete an organization with its keys, files, documents, searches and usage. Cannot be undone.
    Delete {
        #[arg(value_name = "UUID")]
        organization_id: OrganizationId,
        /// Delete without confirmation; required without a terminal.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum Key {
    /// Create a key and print it. It cannot be shown again.
    Create(KeyCreate),
    /// List the keys of an organization.
    List {
        /// Organization of the keys.
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
    },
    /// Revoke a key. Running servers refuse it within 5 seconds.
    Revoke { key_id: ApiKeyId },
}

#[derive(Args, Debug)]
pub struct KeyCreate {
    /// Organization of the key.
    #[arg(long, value_name = "UUID")]
    pub org: OrganizationId,
    /// Name of the key.
    #[arg(long, value_parser = key_name)]
    pub name: String,
    /// Scopes, such as `search:read,document:read` [default: all but `web:manage`, which manages the shared web index].
    #[arg(long, value_delimiter = ',', value_parser = scope)]
    pub scopes: Option<Vec<Scope>>,
    /// Rate limit in requests per second [default: setting `rate_limit.default_rps`].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = limit_rps())]
    pub limit_rps: Option<u32>,
    /// Time of expiry [default: never].
    #[arg(long, value_name = "RFC3339", value_parser = rfc3339)]
    pub expires_at: Option<OffsetDateTime>,
}

#[derive(Debug, Subcommand)]
pub enum Feedback {
    /// Export every event with its query, ranked list and document, for evaluation.
    Export,
}

#[derive(Debug, Subcommand)]
pub enum Balance {
    /// Show the current balance.
    Show {
        /// Organization of the balance.
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
    },
    /// List every entry, oldest first. Their sum is the balance.
    Ledger {
        /// Organization of the balance.
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
    },
    /// Add to the balance.
    Add {
        /// Organization of the balance.
        #[arg(long, value_name = "UUID")]
        org: OrganizationId,
        /// Amount in cents.
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least(0))]
        cents: u64,
    },
}

#[derive(Debug, Subcommand)]
pub enum Web {
    /// Import pages into the shared web index. Returns once they are searchable.
    Import {
        /// Input file, plain or gzip; `-` for standard input; or a folder of HTML, markdown, text and PDF files.
        file: PathBuf,
        /// Input format [default: detected from the content].
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// Address of a folder or of a zip archive of one: its files are at this URL, followed by their paths.
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
    },
    /// Crawl sites, sitemaps, feeds or single pages into the shared web index.
    Crawl(Crawl),
    /// List the crawls.
    Crawls {
        /// Print one JSON object per crawl [default: a table on a terminal].
        #[arg(long)]
        json: bool,
    },
    /// Show a crawl with its numbers of URLs by outcome and reason.
    CrawlShow { name: String },
    /// Stop a crawl. `web crawl` with its name goes on.
    CrawlStop { name: String },
    /// Remove a crawl. Its pages stay in the index.
    CrawlRemove {
        name: String,
        /// Remove pages that no other crawl lists.
        #[arg(long)]
        pages: bool,
    },
    /// List pages of the shared web index.
    List {
        #[command(flatten)]
        selection: Selection,
        /// Maximum number of pages [default: all].
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least(1))]
        limit: Option<u64>,
        /// Print one JSON object per page [default: one URL per line on a terminal].
        #[arg(long)]
        json: bool,
    },
    /// Show the size of the shared web index and of the frontier.
    Stats,
    /// Remove pages from the shared web index. Crawls that know them do not add them again.
    Remove {
        /// Page to remove.
        #[arg(required_unless_present_any = ["host", "prefix"], conflicts_with_all = ["host", "prefix"])]
        url: Option<String>,
        #[command(flatten)]
        selection: Selection,
    },
    /// Read pages again.
    Refresh {
        #[arg(required = true, value_name = "URL")]
        urls: Vec<String>,
    },
}

/// Pages of the shared web index.
#[derive(Args, Debug, Default)]
pub struct Selection {
    /// Host of the pages, with its port unless that is the scheme's.
    #[arg(long, value_name = "H", conflicts_with = "prefix")]
    pub host: Option<String>,
    /// Beginning of the canonical URLs.
    #[arg(long, value_name = "URL")]
    pub prefix: Option<String>,
}

#[derive(Args, Debug)]
pub struct Crawl {
    /// Sites, pages, sitemaps or feeds to begin with. The crawl stays on their hosts.
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
    /// Name of the crawl. A crawl of this name is continued, or repeated once it has ended [default: the first host].
    #[arg(long)]
    pub name: Option<String>,
    /// Maximum number of links from a given URL to a page [default: any].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub depth: Option<u32>,
    /// Maximum number of pages in the index [default: all].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least(1))]
    pub limit: Option<u64>,
    /// Pages to list, as a pattern of path and query (`/docs/*`) or of the URL (`https://host/docs/*`). `*` is any text. May be
    /// repeated [default: all].
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Pages to leave out, as a pattern; it precedes --include. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Use of sitemaps and feeds: with links of pages, alone, or not at all.
    #[arg(long, value_enum, default_value_t = SitemapUse::Auto)]
    pub sitemaps: SitemapUse,
    /// Shortest interval of reading a page again, such as `30m`, `12h`, `1d` [default: never].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub every: Option<std::time::Duration>,
    /// Wait until the pages are searchable. Works on the crawl without a server, too.
    #[arg(long)]
    pub wait: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SitemapUse {
    Auto,
    Only,
    Off,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// One JSON object per line: url, title, text or markdown or html, description, published_at, language,
    /// country, labels.
    Jsonl,
    /// Web archive (WARC 1.0, 1.1, and the text archives of Common Crawl, WET): successful responses with HTML, text,
    /// markdown or PDF.
    Warc,
    /// Zip archive of a folder.
    Zip,
}

#[derive(Debug, Subcommand)]
pub enum Index {
    /// Rebuild indexes from the database.
    Rebuild {
        /// Index to rebuild [default: both].
        #[arg(long, value_enum)]
        index: Option<IndexChoice>,
    },
    /// Embed all documents with the configured model, also while servers use another one. Can be interrupted and repeated.
    Embed {
        /// Delete the vectors of models that are neither configured nor in use.
        #[arg(long)]
        prune: bool,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum IndexChoice {
    Web,
    Workspace,
}

#[derive(Debug, Subcommand)]
pub enum Config {
    /// Validate the settings.
    Check,
}

/// Returns a parser of numbers, whose errors state the range for negative ones too.
fn at_least(least: i64) -> RangedI64ValueParser<u64> {
    RangedI64ValueParser::from(least..)
}

/// Returns the parser of a rate limit, which the database stores in 32 bits.
fn limit_rps() -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::from(1..=i64::from(i32::MAX))
}

fn organization_name(text: &str) -> Result<String, String> {
    accounts::check_organization_name(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

fn key_name(text: &str) -> Result<String, String> {
    api_keys::checked_name(text).map_err(|error| error.to_string())
}

fn scope(text: &str) -> Result<Scope, String> {
    text.parse().map_err(|_| {
        let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
        format!("unknown scope `{text}`; use {}", known.join(", "))
    })
}

/// Parses `90`, `90s`, `30m`, `1h30m`, `1d`, `2w`.
fn duration(text: &str) -> Result<std::time::Duration, String> {
    let invalid = || format!("`{text}` is not a duration such as `30m`, `12h` or `1d`");
    if let Ok(seconds) = text.parse() {
        return Ok(std::time::Duration::from_secs(seconds));
    }
    let mut seconds = 0_u64;
    let mut number = String::new();
    for character in text.chars() {
        let unit = match character {
            '0'..='9' => {
                number.push(character);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            'w' => 7 * 24 * 60 * 60,
            _ => return Err(invalid()),
        };
        let count: u64 = number.parse().map_err(|_| invalid())?;
        seconds = count.checked_mul(unit).and_then(|part| seconds.checked_add(part)).ok_or_else(invalid)?;
        number.clear();
    }
    if !number.is_empty() || seconds == 0 {
        return Err(invalid());
    }
    Ok(std::time::Duration::from_secs(seconds))
}

fn action(text: &str) -> Result<AuditAction, String> {
    text.parse().map_err(|_| {
        let known: Vec<&str> = AuditAction::ALL.iter().map(|action| action.as_str()).collect();
        format!("unknown action `{text}`; use {}", known.join(", "))
    })
}

fn rfc3339(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &Rfc3339)
        .map_err(|_| format!("`{text}` is not an RFC 3339 time such as 2027-01-31T00:00:00Z"))
}

#[cfg(test)]
mod tests;
