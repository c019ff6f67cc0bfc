//! `docs/quickstart.md` and the examples of `/docs`, pasted and run.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{Client, Database, Finished, Server, run, until};

const PAGE: &str = include_str!("../../../../docs/quickstart.md");

/// Base URL and key as the page writes them.
const BASE_URL: &str = "http://127.0.0.1:8080";
const KEY: &str = "YOUR_KEY";
const SENTENCE: &str = "The moon moves the tides, twice a day, on every coast.";

/// A server after its first start, as the page leaves the reader.
struct Reader {
    server: Server,
    key: String,
    folder: TempDir,
}

impl Reader {
    fn new() -> Self {
        // Pages must not be fetched by a test: the timeout is too short for any connection.
        let server = Server::start_with(Database::sqlite(), "[fetch]\ntimeout_ms = 1\n");
        let file = server.data_folder().join("first-key");
        // The key is written before it is valid, and the server remembers unknown keys for some seconds.
        let key = until("the key is valid", std::time::Duration::from_secs(10), || {
            let key = fs::read_to_string(&file).ok().filter(|key| key.ends_with('\n'))?;
            let client = Client::new(&server.base(), Some(key.trim()), Uuid::nil());
            (client.get("/v1/me").status == 200).then_some(key)
        });
        Self { server, key: key.trim().to_owned(), folder: tempfile::tempdir().unwrap() }
    }

    /// Returns a block with the reader's own address and key.
    fn adapted(&self, block: &str) -> String {
        block.replace(BASE_URL, &self.server.base()).replace(KEY, &self.key)
    }

    /// Runs a script with an interpreter.
    fn run(&self, interpreter: &str, file: &str, script: &str) -> Finished {
        fs::write(self.folder.path().join(file), self.adapted(script)).unwrap();
        let mut command = Command::new(interpreter);
        command.arg(file).current_dir(self.folder.path());
        command.env("RETRIEVAL_BASE_URL", self.server.base()).env("RETRIEVAL_API_KEY", &self.key);
        command.env("NO_PROXY", "127.0.0.1");
        run(command, b"")
    }
}

/// Returns the blocks of a section in a language.
fn blocks(heading: &str, language: &str) -> Vec<&'static str> {
    let section = PAGE.split("\n## ").find_map(|section| section.strip_prefix(heading)?.strip_prefix('\n'));
    let section = section.unwrap_or_else(|| panic!("no section {heading}"));
    let start = format!("```{language}\n");
    section.split(start.as_str()).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// Interpreter with what the examples use. The summary of `cargo xtask test` names the missing ones.
struct Interpreter {
    /// Environment variable with its path.
    variable: &'static str,
    program: &'static str,
    check: [&'static str; 2],
}

const CURL: Interpreter = Interpreter { variable: "TEST_SHELL", program: "sh", check: ["-c", "curl --version"] };
const PYTHON: Interpreter =
    Interpreter { variable: "TEST_PYTHON", program: "python3", check: ["-c", "import requests"] };
const NODE: Interpreter =
    Interpreter { variable: "TEST_NODE", program: "node", check: ["-e", "if (!globalThis.fetch) process.exit(1)"] };

impl Interpreter {
    /// Returns the program; `None`, and reports the skipped check, if it does not run.
    fn find(&self) -> Option<String> {
        let given = std::env::var(self.variable).ok().filter(|given| !given.is_empty());
        let program = given.unwrap_or_else(|| self.program.to_owned());
        let output = Command::new(&program).args(self.check).output();
        let runs = output.is_ok_and(|output| output.status.success());
        if !runs {
            println!("NOT RUN: `{program}` does not run {:?}", self.check);
        }
        runs.then_some(program)
    }
}

#[test]
fn page_has_the_blocks_that_the_tests_run() {
    assert_eq!(blocks("Start the server", "sh").len(), 2);
    assert_eq!(blocks("Start the server", "sh")[0], "cargo run --release");
    let run: usize =
        ["sh", "python", "js"].map(|language| PAGE.matches(&format!("```{language}\n")).count()).iter().sum();
    assert_eq!(PAGE.matches("```").count(), 2 * run, "a block in another language");
    let counts = ["curl", "Claude Code"].map(|heading| blocks(heading, "sh").len());
    assert_eq!((counts, blocks("Python", "python").len(), blocks("JavaScript", "js").len()), ([4, 1], 1, 1));
    assert_eq!(run, 2 + 4 + 1 + 1 + 1);
}

#[test]
fn curl() {
    let Some(shell) = CURL.find() else { return };
    let reader = Reader::new();
    let settings = blocks("Start the server", "sh")[1];
    let script = [&["set -eu", settings], &blocks("curl", "sh")[..]].concat().join("\n");
    let done = reader.run(&shell, "pasted.sh", &script);
    assert_eq!(done.code(), Some(0), "{done:#?}");
    let answers: Vec<Value> =
        serde_json::Deserializer::from_str(&done.stdout).into_iter().map(|answer| answer.unwrap()).collect();
    let [run, found, read, page] = &answers[..] else { panic!("{answers:#?}") };
    assert_eq!((&run["state"], &run["stats"]["indexed"]), (&json!("completed"), &json!(1)));
    assert_eq!(found["results"][0]["snippet"], SENTENCE);
    assert!(read["content"]["text"].as_str().unwrap().contains(SENTENCE), "{read:#}");
    assert_eq!(page["doc"]["canonical_url"], "https://example.com/");
}

#[test]
fn refused_requests_end_the_commands() {
    let Some(shell) = CURL.find() else { return };
    let (settings, curl) = (blocks("Start the server", "sh")[1], blocks("curl", "sh"));
    let script = [settings, "RETRIEVAL_API_KEY=refused", curl[0], curl[1]].join("\n");
    let done = Reader::new().run(&shell, "pasted.sh", &script);
    assert!(done.code() == Some(1) && !done.stdout.contains("state"), "{done:#?}");
    assert!(done.stderr.contains("error: 401"), "{done:#?}");
}

#[test]
fn python() {
    check_script(&PYTHON, "tides.py", blocks("Python", "python")[0]);
}

#[test]
fn javascript() {
    check_script(&NODE, "tides.mjs", blocks("JavaScript", "js")[0]);
}

#[track_caller]
fn check_script(interpreter: &Interpreter, file: &str, script: &str) {
    assert!(PAGE.contains(&format!("Save as `{file}` and run `{} {file}`", interpreter.program)));
    let Some(program) = interpreter.find() else { return };
    let done = Reader::new().run(&program, file, script);
    assert_eq!(done.code(), Some(0), "{done:#?}");
    let expected = format!("Tides - {SENTENCE}\n# Tides\n\n{SENTENCE}\n");
    assert_eq!(done.stdout.trim_end(), expected.trim_end());
}

/// The clients themselves need accounts and models; what they are told must lead to the tools.
#[test]
fn mcp_clients() {
    let reader = Reader::new();
    // The shell splits the command and fills the variables in.
    let command = blocks("Claude Code", "sh")[0].replacen("claude", "printf '%s\\n'", 1);
    let told = reader.run("sh", "claude.sh", &command);
    let told: Vec<&str> = told.stdout.lines().collect();
    let url = format!("{}/mcp", reader.server.base());
    let header = format!("Authorization: Bearer {}", reader.key);
    assert_eq!(told, ["mcp", "add", "--transport", "http", "retrieval", &url, "--header", &header]);
    assert!(reader.adapted(PAGE).contains(&format!("| URL | `{url}` |")));

    let client = Client::new(&reader.server.base(), Some(&reader.key), Uuid::nil());
    let listed = client.post("/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).json();
    assert_eq!(listed["result"]["tools"][0]["name"], "search", "{listed:#}");
}

#[test]
fn examples_of_the_reference_run_in_every_language() {
    let reader = Reader::new();
    let page = Client::new(&reader.server.base(), None, Uuid::nil()).get("/docs").text;
    for (language, interpreter, file) in
        [("curl", CURL, "example.sh"), ("Python", PYTHON, "example.py"), ("JavaScript", NODE, "example.mjs")]
    {
        let Some(program) = interpreter.find() else { continue };
        for operation in
            ["search", "readDocument", "submitFeedback", "presignFile", "deleteFile", "startIndexRun", "getUsage"]
        {
            let article = page.split(&format!("<article id=\"{operation}\">")).nth(1).unwrap();
            let code = article.split(&format!("data-language=\"{language}\"")).nth(1).unwrap();
            let code = code.split("<code>").nth(1).unwrap().split("</code>").next().unwrap();
            let code = ["&lt;<", "&gt;>", "&quot;\"", "&#39;'", "&amp;&"].iter().fold(code.to_owned(), |code, pair| {
                let (escaped, plain) = pair.split_at(pair.len() - 1);
                code.replace(escaped, plain)
            });
            let done = reader.run(&program, file, &code);
            assert_eq!(done.code(), Some(0), "{operation} {language}: {done:#?}");
            assert!(done.stdout.contains("request_id") && !done.stdout.contains("\"error\""), "{operation}: {done:#?}");
        }
    }
}
