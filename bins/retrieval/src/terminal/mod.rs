//! Output: text for people on a terminal, JSON for programs.

pub mod appearance;
pub mod money;
pub mod progress;
pub mod table;
pub mod text;

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    on_failure: Mutex<OnFailure>,
}

/// Consequence of a failed write to standard output.
enum OnFailure {
    EndCommand,
    /// The command goes on without output. Holds the first failure.
    Keep(Option<io::Error>),
}

impl Terminal {
    pub fn detect(common: &Common) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let appearance = Appearance::detect(common.color, is_terminal, |name| std::env::var(name).ok());
        Self {
            json: common.json,
            appearance,
            quiet: common.quiet,
            is_terminal,
            on_failure: Mutex::new(OnFailure::EndCommand),
        }
    }

    /// Runs a command with several effects to its end also if nothing reads its output: `files rm a b c | head -1` deletes three files.
    ///
    /// # Errors
    /// The error of the command, or else the first failed write, after which nothing more is written.
    pub async fn finish(&self, command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
        *self.on_failure() = OnFailure::Keep(None);
        let done = command.await;
        match std::mem::replace(&mut *self.on_failure(), OnFailure::EndCommand) {
            OnFailure::Keep(Some(error)) => done.and(Err(Failure::Output(error))),
            OnFailure::Keep(None) | OnFailure::EndCommand => done,
        }
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
        let mut on_failure = self.on_failure();
        if let OnFailure::Keep(Some(_)) = *on_failure {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) else { return Ok(()) };
        match &mut *on_failure {
            OnFailure::EndCommand => Err(Failure::Output(error)),
            OnFailure::Keep(first) => {
                *first = Some(error);
                Ok(())
            }
        }
    }

    fn on_failure(&self) -> MutexGuard<'_, OnFailure> {
        self.on_failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
