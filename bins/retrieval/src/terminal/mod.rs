//! How things are shown: to people on a terminal, to programs as JSON.

pub mod look;
pub mod progress;
pub mod table;
pub mod text;

use std::io::{self, IsTerminal, Write};

use serde_json::Value;

use crate::cli::Common;
use crate::failure::Failure;
use look::Look;
use text::harmless;

pub struct Terminal {
    pub json: bool,
    pub look: Look,
    quiet: bool,
    /// Standard output is a terminal, so that control characters would act.
    shown: bool,
}

impl Terminal {
    pub fn detect(common: &Common) -> Self {
        let shown = io::stdout().is_terminal();
        let look = Look::detect(common.color, shown, |name| std::env::var(name).ok());
        Self { json: common.json, look, quiet: common.quiet, shown }
    }

    /// Text that we laid out ourselves, of parts that are harmless already.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())
    }

    /// Content as it is; on a terminal, with what would act on it made visible.
    pub fn content(&self, content: &str) -> Result<(), Failure> {
        let shown = if self.shown { harmless(content) } else { content.to_owned() };
        let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
        self.write(format!("{shown}{end}").as_bytes())
    }

    /// A JSON document of the service, as it came, on a line of its own.
    pub fn json(&self, document: &[u8]) -> Result<(), Failure> {
        let text = String::from_utf8_lossy(document);
        let mut line = if self.shown { text::harmless_json(&text) } else { text.into_owned() };
        line.push('\n');
        self.write(line.as_bytes())
    }

    /// A JSON document of our own.
    pub fn event(&self, event: &Value) -> Result<(), Failure> {
        self.json(event.to_string().as_bytes())
    }

    /// For whoever watches, on standard error; programs get none.
    pub fn note(&self, text: &str) {
        if !self.json && !self.quiet {
            self.complain(text);
        }
    }

    /// Also for those who asked for quiet.
    pub fn complain(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{}", harmless(text));
    }

    /// Progress moves only where somebody can see it.
    pub fn shows_progress(&self) -> bool {
        !self.json && !self.quiet && io::stderr().is_terminal()
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::Output)
    }
}
