//! What every command has: how it shows things, and what an interruption leaves behind.

use std::sync::Mutex;

use crate::cli::Common;
use crate::terminal::Terminal;

pub struct Context {
    pub terminal: Terminal,
    interrupted: Mutex<String>,
}

impl Context {
    pub fn new(common: &Common) -> Self {
        Self { terminal: Terminal::detect(common), interrupted: Mutex::new("interrupted".to_owned()) }
    }

    /// What an interruption from here on is to say.
    pub fn if_interrupted(&self, message: impl Into<String>) {
        if let Ok(mut kept) = self.interrupted.lock() {
            *kept = message.into();
        }
    }

    pub fn interrupted(&self) -> String {
        self.interrupted.lock().map_or_else(|_| "interrupted".to_owned(), |kept| kept.clone())
    }
}
