//! Command line definition, documented in `docs/cli.md`.

use std::path::PathBuf;

use clap::builder::RangedI64ValueParser;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use retrieval_client::types::{ContentFormat, EventType, Freshness, ResearchDepth, Verbosity};

use crate::api_values;
use crate::failure::EXIT_STATUSES;

const EXAMPLES: &str = "\
Examples:
  retrieval login --base-url search.example.com
  retrieval search how do tides work
  retrieval read https://example.com/tides --all > tides.md
  retrieval files add notes/ 'papers/**/*.pdf'";

// The usage that clap composes for an error names options whose value is in the environment as if they were required, so each
// command with required arguments has its own.

/// Options of `research` that name existing runs.
const EXISTING_RUN: [&str; 4] = ["follow", "cancel", "delete", "list"];

/// Search, read documents and manage private files with a retrieval service
#[derive(Debug, Parser)]
#[command(name = "retrieval", version, about, after_help = format!("{EXAMPLES}\n\n{EXIT_STATUSES}"))]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub struct Common {
    /// Base URL of the service; without a scheme, http for private addresses and https for others [default: settings
    /// file, or http://127.0.0.1:8080]
    #[arg(long, global = true, value_name = "URL", env = "RETRIEVAL_BASE_URL")]
    pub base_url: Option<String>,
    /// API key; prefer the environment or `retrieval login`, because other users can see flags in the process list
    #[arg(long, global = true, value_name = "KEY", env = "RETRIEVAL_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,
    /// Session id that groups requests
    #[arg(long, global = true, value_name = "UUID", env = "RETRIEVAL_SESSION_ID")]
    pub session: Option<String>,
    /// Settings file [default: $XDG_CONFIG_HOME/retrieval/config.toml]
    #[arg(long, global = true, value_name = "FILE", env = "RETRIEVAL_CONFIG")]
    pub config: Option<PathBuf>,
    /// Timeout per attempt, in seconds
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30, allow_negative_numbers = true, value_parser = RangedI64ValueParser::<u64>::new().range(1..=3600))]
    pub timeout: u64,
    /// JSON on standard output, errors as JSON on standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// No notes or progress on standard error
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Colours; `auto` depends on the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search the web index, the workspace, or both
    Search(Box<Search>),
    /// Print the content of a document
    Read(Read),
    /// Research a question and print a report with verified citations
    Research(Box<Research>),
    /// Rate a result or a passage
    Feedback(Feedback),
    /// Manage the organization's files
    #[command(subcommand)]
    Files(Files),
    /// Manage the organization's API keys
    #[command(subcommand)]
    Keys(Keys),
    /// Show requests, errors, latency and cost of the organization
    Usage(Usage),
    /// Show the organization, the credential and the use of the quotas
    Me,
    /// Verify an API key from a prompt or standard input, and store it in the settings file
    Login(Login),
    /// Run a Model Context Protocol server on standard input and output, for desktop clients
    Mcp(Mcp),
    /// Print a completion script
    #[command(override_usage = "retrieval completions [OPTIONS] <SHELL>")]
    Completions {
        /// Shell that runs the script
        shell: Shell,
    },
    /// Print the manual page, or write one page per command
    Man {
        /// Output folder
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
#[command(override_usage = "retrieval search [OPTIONS] <QUERY>...")]
pub struct Search {
    /// Search query
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Index to search
    #[arg(long, short, value_enum, default_value_t = Scope::Web)]
    pub scope: Scope,
    /// Organization whose workspace is searched [default: settings file, or that of the key]
    #[arg(long, value_name = "UUID", env = "RETRIEVAL_WORKSPACE_ID")]
    pub workspace_id: Option<String>,
    /// Maximum number of results, 1-50 [default: 10]
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..=50))]
    pub max_results: Option<i64>,
    /// Preferred domain, also with a path (example.com/docs); repeatable
    #[arg(long = "domain", short, value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// Excluded domain; repeatable
    #[arg(long = "exclude-domain", value_name = "DOMAIN")]
    pub exclude_domains: Vec<String>,
    /// Only results from --domain
    #[arg(long, requires = "domains")]
    pub only_domains: bool,
    /// Language, two letters
    #[arg(long, value_name = "CODE")]
    pub language: Option<String>,
    /// Country, two letters
    #[arg(long, value_name = "CODE")]
    pub country: Option<String>,
    /// Only files with this label; repeatable: any of them
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// Exact match of the query as a phrase
    #[arg(long)]
    pub exact: bool,
    /// Maximum age since publication
    #[arg(long, value_parser = api_values::freshness(), value_name = "WINDOW")]
    pub freshness: Option<Freshness>,
    /// Lower bound of publication, exclusive, a date or RFC 3339 time
    #[arg(long, value_name = "TIME")]
    pub published_after: Option<String>,
    /// Latest publication, exclusive, a date or RFC 3339 time
    #[arg(long, value_name = "TIME")]
    pub published_before: Option<String>,
    /// Rewrite of the query; the first one is sent to the index; repeatable
    #[arg(long = "rewrite", value_name = "QUERY")]
    pub rewrites: Vec<String>,
    /// Amount of detail per result [default: standard with --json or --passages, otherwise compact]
    #[arg(long, short, value_parser = api_values::verbosity(), value_name = "PRESET")]
    pub verbosity: Option<Verbosity>,
    /// Include passages
    #[arg(long)]
    pub passages: bool,
    /// Maximum characters of the whole response
    #[arg(long, value_name = "CHARS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..))]
    pub budget: Option<i64>,
    /// Maximum passages per result, 0-10; shows them [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(0..=10))]
    pub max_passages: Option<i64>,
    /// Maximum characters of each result
    #[arg(long, value_name = "CHARS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..))]
    pub max_chars_per_result: Option<i64>,
    /// Time after which slow stages are skipped, in milliseconds, 1-60000
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..=60_000))]
    pub timeout_ms: Option<i64>,
    /// Fail if the budget cannot be met
    #[arg(long, requires = "budget")]
    pub strict_budget: bool,
    /// Name of the calling model
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
#[command(override_usage = "retrieval read [OPTIONS] <DOCUMENT>...")]
pub struct Read {
    /// URLs, or doc_ids of search results, at most 20
    #[arg(required = true, num_args = 1..=20, value_name = "DOCUMENT")]
    pub documents: Vec<String>,
    /// Question that selects the relevant passages
    #[arg(long, conflicts_with_all = ["all", "start"])]
    pub query: Option<String>,
    /// Content format
    #[arg(long, value_parser = api_values::format(), default_value = "markdown", value_name = "FORMAT")]
    pub format: ContentFormat,
    /// Whole document, fetched in parts of one capture
    #[arg(long)]
    pub all: bool,
    /// Maximum characters, of several documents together; with --all, characters per part [default: 20000; with --all 200000]
    #[arg(long, value_name = "CHARS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..))]
    pub max_chars: Option<i64>,
    /// Offset of the first character [default: 0]
    #[arg(long, value_name = "CHAR", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(0..), conflicts_with = "all")]
    pub start: Option<i64>,
    /// Capture that --start refers to; a newer capture gives a warning
    #[arg(long, value_name = "UUID", requires = "start")]
    pub capture: Option<String>,
    /// Maximum passages with --query [default: as many as fit]
    #[arg(long, value_name = "N", requires = "query", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub max_passages: Option<i64>,
    /// Maximum age of a stored copy, in seconds; 0 reads the page now
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(0..))]
    pub max_age: Option<i64>,
    /// Stored copies only
    #[arg(long)]
    pub cached: bool,
    /// Time after which a stored copy must do, in milliseconds, 1-60000
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..=60_000))]
    pub timeout_ms: Option<i64>,
}

#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("action").required(true).args(["query", "follow", "cancel", "delete", "list"]),
    override_usage = "retrieval research [OPTIONS] QUESTION\n       retrieval research --follow|--cancel|--delete ID\n       \
                      retrieval research --list",
)]
pub struct Research {
    /// Question in natural language
    #[arg(value_name = "QUESTION")]
    pub query: Vec<String>,
    /// Thoroughness, which limits searches, documents and time
    #[arg(long, value_parser = api_values::depth(), default_value = "standard", value_name = "DEPTH", conflicts_with_all = EXISTING_RUN)]
    pub depth: ResearchDepth,
    /// Index to search
    #[arg(long, short, value_enum, default_value_t = Scope::Web, conflicts_with_all = EXISTING_RUN)]
    pub scope: Scope,
    /// Organization whose workspace is searched [default: settings file, or that of the key]
    #[arg(long, value_name = "UUID", env = "RETRIEVAL_WORKSPACE_ID")]
    pub workspace_id: Option<String>,
    /// Wishes for the report, such as its readers or language; only a model can follow them
    #[arg(long, value_name = "TEXT", conflicts_with_all = EXISTING_RUN)]
    pub instructions: Option<String>,
    /// Maximum characters of the report, 200-100000 [default: 12000]
    #[arg(long, value_name = "CHARS", conflicts_with_all = EXISTING_RUN, allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(200..=100_000))]
    pub max_chars: Option<i64>,
    /// File with a JSON Schema; the report is JSON of this form
    #[arg(long, value_name = "FILE", conflicts_with_all = EXISTING_RUN)]
    pub schema: Option<PathBuf>,
    /// Start the run and print its id without waiting for the report
    #[arg(long, conflicts_with_all = EXISTING_RUN)]
    pub no_wait: bool,
    /// Wait for an existing run and print its report
    #[arg(long, value_name = "ID")]
    pub follow: Option<String>,
    /// Cancel a run
    #[arg(long, value_name = "ID")]
    pub cancel: Option<String>,
    /// Delete a run with its report
    #[arg(long, value_name = "ID")]
    pub delete: Option<String>,
    /// List the latest runs
    #[arg(long)]
    pub list: bool,
}

#[derive(Args, Debug)]
#[command(override_usage = "retrieval feedback [OPTIONS] <EVENT>")]
pub struct Feedback {
    /// Kind of feedback
    #[arg(value_parser = api_values::event())]
    pub event: EventType,
    /// doc_id of the result
    #[arg(long, value_name = "UUID")]
    pub doc: Option<String>,
    /// passage_id of the passage
    #[arg(long, value_name = "UUID")]
    pub passage: Option<String>,
    /// search_id of the result list
    #[arg(long, value_name = "UUID")]
    pub search: Option<String>,
    /// Rank in the list, from 1
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..))]
    pub rank: Option<i64>,
    /// Query, if no search_id is known
    #[arg(long)]
    pub query: Option<String>,
    /// Comment for the operator
    #[arg(long)]
    pub comment: Option<String>,
    /// Name of the calling model
    #[arg(long, value_name = "NAME")]
    pub client_model: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Files {
    /// Upload files, folders and patterns, then index them
    Add(Add),
    /// List stored files with their indexing state
    List,
    /// Show one file
    #[command(override_usage = "retrieval files show [OPTIONS] <NAME>")]
    Show {
        /// Stored name
        name: String,
    },
    /// Download the original of a file
    Get(Get),
    /// Delete files by stored name
    #[command(override_usage = "retrieval files rm [OPTIONS] <NAMES>...")]
    Rm {
        /// Stored names
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Start an indexing run and wait for it
    Sync(Sync),
    /// Show the state of an indexing run
    #[command(override_usage = "retrieval files status [OPTIONS] <SYNC_ID>")]
    Status {
        /// sync_id of the run
        sync_id: String,
        /// Wait for the end of the run
        #[arg(long)]
        follow: bool,
    },
}

#[derive(Args, Debug)]
#[command(override_usage = "retrieval files add [OPTIONS] <PATHS>...")]
pub struct Add {
    /// Files, folders (recursive, without hidden entries) and patterns such as 'notes/**/*.md'
    #[arg(required = true)]
    pub paths: Vec<String>,
    /// Stored names of files: the file name, or the path joined with `__`
    #[arg(long, value_enum, default_value_t = Names::File)]
    pub names: Names,
    /// Label of the files, which searches can filter by; repeatable [default: unchanged]
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// Upload unchanged files too
    #[arg(long)]
    pub force: bool,
    /// Show the files to upload without uploading
    #[arg(long)]
    pub dry_run: bool,
    /// Number of parallel uploads
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub jobs: u8,
    /// Upload without indexing
    #[arg(long)]
    pub no_run: bool,
    /// Start the indexing run without waiting for it
    #[arg(long, conflicts_with = "no_run")]
    pub no_wait: bool,
}

#[derive(Args, Debug)]
#[command(override_usage = "retrieval files get [OPTIONS] <NAME>")]
pub struct Get {
    /// Stored name
    pub name: String,
    /// Local file, or `-` for standard output [default: the stored name]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace an existing local file
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Subcommand)]
pub enum Keys {
    /// List the keys
    List,
    /// Create a key and print it, once
    Create(CreateKey),
    /// Revoke a key by its id
    #[command(override_usage = "retrieval keys revoke [OPTIONS] <API_KEY_ID>")]
    Revoke {
        /// Id of the key
        api_key_id: String,
    },
}

#[derive(Args, Debug)]
#[command(override_usage = "retrieval keys create [OPTIONS] --name <NAME>")]
pub struct CreateKey {
    /// Name that lists show
    #[arg(long)]
    pub name: String,
    /// Scopes, separated by commas [default: those of the current key]
    #[arg(long, value_name = "SCOPES", value_delimiter = ',')]
    pub scopes: Vec<String>,
    /// Requests per second [default: at most those of the current key]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..))]
    pub limit_rps: Option<i64>,
    /// Time of expiry, RFC 3339 [default: that of the current key]
    #[arg(long, value_name = "TIME")]
    pub expires_at: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Names {
    File,
    Path,
}

#[derive(Args, Debug)]
pub struct Sync {
    /// Reindex every file, not only new and changed ones
    #[arg(long)]
    pub full: bool,
    /// Return without waiting for the end of the run
    #[arg(long)]
    pub no_wait: bool,
}

#[derive(Args, Debug)]
pub struct Usage {
    /// Start of the window, ISO 8601 [default: 30 days before the end]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// End of the window, ISO 8601 [default: now]
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Length of an interval of the series
    #[arg(long, value_parser = ["hour", "day"])]
    pub interval: Option<String>,
    /// API key id; repeatable
    #[arg(long = "key", value_name = "UUID")]
    pub keys: Vec<String>,
    /// Grouping of the series
    #[arg(long, value_parser = ["none", "api_key", "endpoint", "status_class"], value_name = "GROUP")]
    pub group_by: Option<String>,
}

#[derive(Args, Debug)]
pub struct Login {
    /// Organization to store, for searches of its workspace
    #[arg(long, value_name = "UUID")]
    pub workspace_id: Option<String>,
}

#[derive(Args, Debug)]
pub struct Mcp {
    /// Tool set: all tools, `search` only, or `search` and `fetch` as connectors expect
    #[arg(long, value_enum, default_value_t = Profile::Full)]
    pub profile: Profile,
    /// Tools of the profile to offer, separated by commas [default: all]
    #[arg(long, value_name = "NAMES")]
    pub tools: Option<String>,
    /// Organization whose workspace is searched [default: settings file, or that of the key]
    #[arg(long, value_name = "UUID", env = "RETRIEVAL_WORKSPACE_ID")]
    pub workspace_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Profile {
    Full,
    Search,
    Connector,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use std::collections::BTreeSet;

    use super::*;
    use clap::CommandFactory;

    const PAGE: &str = include_str!("../../../docs/cli.md");

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_are_accepted_before_and_after_a_command() {
        let options = "--base-url http://a --api-key k --session s --config c --timeout 7 --json --quiet --color never";
        let options: Vec<&str> = options.split(' ').collect();
        for command in [&["files", "list"][..], &["usage"]] {
            let before = [&["retrieval"], &options[..], command].concat();
            let between = [&["retrieval"], &command[..1], &options[..], &command[1..]].concat();
            let after = [&["retrieval"], command, &options[..]].concat();
            let parsed = [before, between, after].map(|arguments| Cli::try_parse_from(arguments).unwrap().common);
            for common in &parsed {
                assert_eq!(format!("{common:?}"), format!("{:?}", parsed[0]));
                assert_eq!(
                    (common.timeout, common.json, common.quiet, common.color),
                    (7, true, true, ColorChoice::Never)
                );
                let texts = [&common.base_url, &common.api_key, &common.session].map(|text| text.as_deref().unwrap());
                assert_eq!((texts, common.config.as_deref()), (["http://a", "k", "s"], Some("c".as_ref())));
            }
        }
    }

    #[test]
    fn negative_numbers_are_refused_with_the_range() {
        for (arguments, named) in [
            ("usage --timeout -1", "'--timeout <SECONDS>': -1 is not in 1..=3600"),
            ("search x -n -1", "'--max-results <N>': -1 is not in 1..=50"),
            ("search x --budget -1", "'--budget <CHARS>': -1 is not in 1.."),
            ("search x --max-passages -1", "'--max-passages <N>': -1 is not in 0..=10"),
            ("search x --max-chars-per-result -1", "'--max-chars-per-result <CHARS>': -1 is not in 1.."),
            ("search x --timeout-ms -1", "'--timeout-ms <MS>': -1 is not in 1..=60000"),
            ("read u --max-chars -1", "'--max-chars <CHARS>': -1 is not in 1.."),
            ("read u --start -1", "'--start <CHAR>': -1 is not in 0.."),
            ("read u --query x --max-passages -1", "'--max-passages <N>': -1 is not in 1..=1000"),
            ("read u --max-age -1", "'--max-age <SECONDS>': -1 is not in 0.."),
            ("read u --timeout-ms -1", "'--timeout-ms <MS>': -1 is not in 1..=60000"),
            ("research x --max-chars -1", "'--max-chars <CHARS>': -1 is not in 200..=100000"),
            ("feedback result_helpful --rank -1", "'--rank <N>': -1 is not in 1.."),
            ("files add x --jobs -1", "'--jobs <N>': -1 is not in 1..=32"),
            ("keys create --name x --limit-rps -1", "'--limit-rps <N>': -1 is not in 1.."),
        ] {
            let command_line = ["retrieval"].into_iter().chain(arguments.split(' '));
            let refused = Cli::try_parse_from(command_line).unwrap_err();
            assert_eq!(refused.exit_code(), 2);
            assert!(refused.to_string().contains(named), "{refused}");
        }
    }

    /// Returns the options that the page's tables name in the rows with these first cells.
    fn documented(is_row: impl Fn(&str) -> bool) -> BTreeSet<&'static str> {
        let rows = PAGE.lines().filter(|line| line.split(" | ").next().is_some_and(&is_row));
        rows.flat_map(|row| row.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')).collect()
    }

    #[test]
    fn every_option_is_documented() {
        let program = Cli::command();
        let mut commands: Vec<_> =
            program.get_subcommands().map(|command| (command.get_name().to_owned(), command)).collect();
        for (path, command) in commands.clone() {
            let inner = command.get_subcommands().map(|inner| (format!("{path} {}", inner.get_name()), inner));
            commands.extend(inner);
        }
        commands.push((String::new(), &program));
        for (path, command) in &commands {
            // Options that are settings, too, have rows of their own.
            let named = documented(|cell| {
                let is_of_command = [" ", "`"].iter().any(|end| cell.contains(&format!("`{path}{end}")));
                cell.starts_with("| `--") || (cell.starts_with("| `") && !path.is_empty() && is_of_command)
            });
            for option in command.get_arguments().filter(|argument| !argument.is_positional()) {
                let long = option.get_long().map(|name| format!("--{name}"));
                let short = option.get_short().map(|name| format!("-{name}"));
                let is_named = [long, short].into_iter().flatten().any(|name| named.contains(name.as_str()));
                assert!(is_named, "docs/cli.md: `{path}` lacks {option}");
            }
        }
    }

    /// Agents run the commands of the skills literally.
    #[test]
    fn commands_in_skills_parse() {
        let published = skills::Published::new("https://search.example.com").unwrap();
        let mut tried = 0;
        for text in published.skills.iter().chain(&published.agents) {
            for line in text.text.lines().map(str::trim).filter(|line| line.starts_with("retrieval ")) {
                let command = line.split(['|', '>']).next().unwrap_or(line);
                let api_values =
                    shlex::split(command).unwrap_or_else(|| panic!("{}: `{line}` is not a command", text.name));
                let parsed = Cli::try_parse_from(api_values);
                assert!(parsed.is_ok(), "{}: `{line}`: {}", text.name, parsed.err().unwrap());
                tried += 1;
            }
        }
        assert!(tried >= 4, "found only {tried} commands");
    }
}
