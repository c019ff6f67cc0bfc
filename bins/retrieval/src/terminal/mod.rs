//! Output: text for people on a terminal, JSON for programs.

pub mod appearance;
pub mod money;
pub mod progress;
pub mod table;
pub mod text;

use std::io::{self, IsTerminal, Write};

use serde_json::Value;

use crate::cli::Common;
use crate::failure::Failure;
use appearance::Appearance;
use text::sanitize;

pub struct Terminal {
    pub json: bool,
    pub appearance: Appearance,
    quiet: bool,
    /// Standard output is a terminal, which would execute control characters.
    is_terminal: bool,
}

impl Terminal {
    pub fn detect(common: &Common) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let appearance = Appearance::detect(common.color, is_terminal, |name| std::env::var(name).ok());
        Self { json: common.json, appearance, quiet: common.quiet, is_terminal }
    }

    /// Prints text that we laid out from sanitized parts.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())
    }

    /// Prints content unchanged; sanitizes it on a terminal.
    pub fn content(&self, content: &str) -> Result<(), Failure> {
        let shown = if self.is_terminal { sanitize(content) } else { content.to_owned() };
        let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
        self.write(format!("{shown}{end}").as_bytes())
    }

    /// Prints a JSON document of the service unchanged, on one line.
    pub fn json(&self, document: &[u8]) -> Result<(), Failure> {
        let text = String::from_utf8_lossy(document);
        let mut line = if self.is_terminal { text::sanitize_json(&text) } else { text.into_owned() };
        line.push('\n');
        self.write(line.as_bytes())
    }

    /// Prints our own JSON document.
    pub fn event(&self, event: &Value) -> Result<(), Failure> {
        self.json(event.to_string().as_bytes())
    }

    /// Prints a note on standard error, unless --json or --quiet is set.
    pub fn note(&self, text: &str) {
        if !self.json && !self.quiet {
            self.error(text);
        }
    }

    /// Prints an error on standard error, even with --quiet.
    pub fn error(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{}", sanitize(text));
    }

    /// Returns true if progress is visible: standard error is a terminal.
    pub fn shows_progress(&self) -> bool {
        !self.json && !self.quiet && io::stderr().is_terminal()
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::Output)
    }
}
