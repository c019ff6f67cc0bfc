//! The command line, as `docs/cli.md` describes it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use retrieval_client::types::{ContentFormat, EventType, Freshness, Verbosity};

use crate::failure::EXIT_STATUSES;
use crate::words;

/// Search, read documents and keep private files with a retrieval service.
#[derive(Debug, Parser)]
#[command(name = "retrieval", version, about, after_help = EXIT_STATUSES)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Everywhere")]
pub struct Common {
    /// Where the service is; else the settings file's, else http://127.0.0.1:8080
    #[arg(long, global = true, value_name = "URL", env = "RETRIEVAL_BASE_URL")]
    pub base_url: Option<String>,
    /// The key; the environment or `retrieval login` hide it from the list of processes
    #[arg(long, global = true, value_name = "KEY", env = "RETRIEVAL_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,
    /// The session that the requests belong to (a UUID)
    #[arg(long, global = true, value_name = "UUID", env = "RETRIEVAL_SESSION_ID")]
    pub session: Option<String>,
    /// Settings file instead of $XDG_CONFIG_HOME/retrieval/config.toml
    #[arg(long, global = true, value_name = "FILE", env = "RETRIEVAL_CONFIG")]
    pub config: Option<PathBuf>,
    /// Seconds that an attempt may take
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// JSON on standard output, and errors as JSON on standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// No notes and no progress on standard error
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Colours; `auto` asks the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub color: When,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search the web index, the workspace, or both
    Search(Search),
    /// Read a document: its content goes to standard output
    Read(Read),
    /// Say what a result or a passage was worth
    Feedback(Feedback),
    /// The organization's own files
    #[command(subcommand)]
    Files(Files),
    /// What the organization's keys did
    Usage(Usage),
    /// Check a key and keep it in the settings file; the key is asked for, or read from standard input
    Login(Login),
    /// Serve the Model Context Protocol on standard input and output, for desktop clients
    Mcp(Mcp),
    /// Print a completion script
    Completions { shell: Shell },
    /// Print the manual page, or write one for every command
    Man {
        /// Folder to write the pages into
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub struct Search {
    /// What to look for
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Which index to search
    #[arg(long, short, value_enum, default_value_t = Scope::Web)]
    pub scope: Scope,
    /// The organization, for its workspace; else the settings file's
    #[arg(long, value_name = "UUID", env = "RETRIEVAL_WORKSPACE_ID")]
    pub workspace_id: Option<String>,
    /// At most so many results (1 to 50)
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(i64).range(1..=50))]
    pub max_results: Option<i64>,
    /// Prefer this site; may be repeated
    #[arg(long = "domain", short, value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// Drop this site; may be repeated
    #[arg(long = "exclude-domain", value_name = "DOMAIN")]
    pub exclude_domains: Vec<String>,
    /// Nothing but the sites of `--domain`
    #[arg(long, requires = "domains")]
    pub only_domains: bool,
    /// Two letters
    #[arg(long, value_name = "CODE")]
    pub language: Option<String>,
    /// Two letters
    #[arg(long, value_name = "CODE")]
    pub country: Option<String>,
    /// The query verbatim, as a phrase
    #[arg(long)]
    pub exact: bool,
    /// Published in the past day, week, month or year
    #[arg(long, value_parser = words::freshness(), value_name = "WINDOW")]
    pub freshness: Option<Freshness>,
    /// Published after this day or RFC 3339 time
    #[arg(long, value_name = "TIME")]
    pub published_after: Option<String>,
    /// A rewrite of the query; the first is what the index is asked; may be repeated
    #[arg(long = "rewrite", value_name = "QUERY")]
    pub rewrites: Vec<String>,
    /// How much of each result; `standard` with --json and --passages, else `compact`
    #[arg(long, short, value_parser = words::verbosity(), value_name = "PRESET")]
    pub verbosity: Option<Verbosity>,
    /// Show the passages as well
    #[arg(long)]
    pub passages: bool,
    /// Characters that the whole answer may have
    #[arg(long, value_name = "CHARS", value_parser = clap::value_parser!(i64).range(1..))]
    pub budget: Option<i64>,
    /// Fail when the budget cannot be met
    #[arg(long, requires = "budget")]
    pub strict_budget: bool,
    /// The model that asks
    #[arg(long, value_name = "NAME")]
    pub client_model: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Scope {
    Web,
    Workspace,
    All,
}

#[derive(Args, Debug)]
pub struct Read {
    /// A URL, or the doc_id of a search result
    pub document: String,
    /// Only the passages that matter for this question
    #[arg(long, conflicts_with_all = ["all", "start"])]
    pub query: Option<String>,
    #[arg(long, value_parser = words::format(), default_value = "markdown", value_name = "FORMAT")]
    pub format: ContentFormat,
    /// The whole document, page by page, all from one capture
    #[arg(long)]
    pub all: bool,
    /// At most so many characters; with --all, so many a page
    #[arg(long, value_name = "CHARS", value_parser = clap::value_parser!(i64).range(1..))]
    pub max_chars: Option<i64>,
    /// Begin at this character
    #[arg(long, value_name = "CHAR", value_parser = clap::value_parser!(i64).range(0..), conflicts_with = "all")]
    pub start: Option<i64>,
    /// The capture that --start counts in; a warning says when it is no longer the latest
    #[arg(long, value_name = "UUID", requires = "start")]
    pub capture: Option<String>,
}

#[derive(Args, Debug)]
pub struct Feedback {
    #[arg(value_parser = words::event())]
    pub event: EventType,
    #[arg(long, value_name = "UUID")]
    pub doc: Option<String>,
    #[arg(long, value_name = "UUID")]
    pub passage: Option<String>,
    /// The search_id of the ranked list
    #[arg(long, value_name = "UUID")]
    pub search: Option<String>,
    /// The result's position in it, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub rank: Option<i64>,
    /// The query, where no search_id is at hand
    #[arg(long)]
    pub query: Option<String>,
    /// For people who read it later
    #[arg(long)]
    pub comment: Option<String>,
    /// The model that gives the feedback
    #[arg(long, value_name = "NAME")]
    pub client_model: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Files {
    /// Upload files, folders and patterns, then index them
    Add(Add),
    /// The stored files
    List,
    /// Delete files by their stored names
    Rm {
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Start an indexing run and follow it
    Sync(Sync),
    /// Where an indexing run stands
    Status {
        sync_id: String,
        /// Until it ends
        #[arg(long)]
        follow: bool,
    },
}

#[derive(Args, Debug)]
pub struct Add {
    /// Files, folders (with everything below, but nothing hidden) and patterns such as 'notes/**/*.md'
    #[arg(required = true)]
    pub paths: Vec<String>,
    /// What files in folders are called: their own name, or their path with `__` between its parts
    #[arg(long, value_enum, default_value_t = Names::File)]
    pub names: Names,
    /// Upload what is unchanged, too
    #[arg(long)]
    pub force: bool,
    /// Say what would be uploaded
    #[arg(long)]
    pub dry_run: bool,
    /// Upload so many at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub jobs: u8,
    /// Upload only
    #[arg(long)]
    pub no_run: bool,
    /// Start the indexing run and do not wait for it
    #[arg(long, conflicts_with = "no_run")]
    pub no_wait: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Names {
    File,
    Path,
}

#[derive(Args, Debug)]
pub struct Sync {
    /// Every file again, not only new and changed ones
    #[arg(long)]
    pub full: bool,
    /// Do not wait for the end
    #[arg(long)]
    pub no_wait: bool,
}

#[derive(Args, Debug)]
pub struct Usage {
    /// Begin of the window (ISO 8601); 30 days before its end unless given
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// End of the window (ISO 8601); now unless given
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    #[arg(long, value_parser = ["hour", "day"])]
    pub interval: Option<String>,
    /// Only this key; may be repeated
    #[arg(long = "key", value_name = "UUID")]
    pub keys: Vec<String>,
    #[arg(long, value_parser = ["none", "api_key", "endpoint", "status_class"], value_name = "GROUP")]
    pub group_by: Option<String>,
}

#[derive(Args, Debug)]
pub struct Login {
    /// The organization, kept for searches of its workspace
    #[arg(long, value_name = "UUID")]
    pub workspace_id: Option<String>,
}

#[derive(Args, Debug)]
pub struct Mcp {
    /// Which tools: all, or `search` and `fetch` alone as connectors expect them
    #[arg(long, value_enum, default_value_t = Profile::Full)]
    pub profile: Profile,
    /// The organization, for searches of its workspace; else the settings file's
    #[arg(long, value_name = "UUID", env = "RETRIEVAL_WORKSPACE_ID")]
    pub workspace_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Profile {
    Full,
    Connector,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_fits_together() {
        Cli::command().debug_assert();
    }

    /// Agents run what the skills tell them to, word for word.
    #[test]
    fn the_commands_of_the_skills_are_commands() {
        let published = skills::Published::new("https://search.example.com").unwrap();
        let mut tried = 0;
        for text in published.skills.iter().chain(&published.agents) {
            for line in text.text.lines().map(str::trim).filter(|line| line.starts_with("retrieval ")) {
                let command = line.split(['|', '>']).next().unwrap_or(line);
                let words = shlex::split(command).unwrap_or_else(|| panic!("{}: `{line}` is no command", text.name));
                let parsed = Cli::try_parse_from(words);
                assert!(parsed.is_ok(), "{}: `{line}`: {}", text.name, parsed.err().unwrap());
                tried += 1;
            }
        }
        assert!(tried >= 4, "only {tried} commands were found");
    }
}
