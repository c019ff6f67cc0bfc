//! Prompt with hidden input.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Maximum length of an API key.
const MAX_KEY_BYTES: u64 = 4096;

/// Terminal settings before the prompt.
static SAVED_SETTINGS: Mutex<Option<Termios>> = Mutex::new(None);

/// Prompts on a terminal without echo, otherwise reads the first line of standard input.
pub fn read_secret(question: &str) -> io::Result<String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        write!(io::stderr(), "{question}: ")?;
        disable_echo(&stdin)?;
    }
    let mut line = String::new();
    let read = stdin.lock().take(MAX_KEY_BYTES).read_line(&mut line);
    if stdin.is_terminal() {
        restore();
        writeln!(io::stderr())?;
    }
    read.map(|_| line.trim().to_owned())
}

fn disable_echo(stdin: &io::Stdin) -> io::Result<()> {
    let before = tcgetattr(stdin)?;
    let mut hidden = before.clone();
    *SAVED_SETTINGS.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    hidden.local_modes -= LocalModes::ECHO;
    tcsetattr(stdin, OptionalActions::Flush, &hidden)?;
    Ok(())
}

/// Restores the terminal, including after an interrupted prompt.
pub fn restore() {
    if let Some(before) = SAVED_SETTINGS.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // Fails only if the terminal is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}
