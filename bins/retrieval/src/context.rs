//! State shared by all commands: the terminal and the message for an interruption.

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

    /// Sets the message to print if the command is interrupted from now on.
    pub fn set_interrupt_message(&self, text: impl Into<String>) {
        if let Ok(mut message) = self.interrupted.lock() {
            *message = text.into();
        }
    }

    pub fn interrupted(&self) -> String {
        self.interrupted.lock().map_or_else(|_| "interrupted".to_owned(), |message| message.clone())
    }
}
