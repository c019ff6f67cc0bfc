//! A line that is not shown while it is typed.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Longer than any key.
const MAX_LINE: u64 = 4096;

/// What the terminal was like before the prompt.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Asks on a terminal, without echo; elsewhere reads the first line of standard input.
pub fn secret(question: &str) -> io::Result<String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        write!(io::stderr(), "{question}: ")?;
        hide(&stdin)?;
    }
    let mut line = String::new();
    let read = stdin.lock().take(MAX_LINE).read_line(&mut line);
    if stdin.is_terminal() {
        restore();
        writeln!(io::stderr())?;
    }
    read.map(|_| line.trim().to_owned())
}

fn hide(stdin: &io::Stdin) -> io::Result<()> {
    let before = tcgetattr(stdin)?;
    let mut hidden = before.clone();
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    hidden.local_modes -= LocalModes::ECHO;
    tcsetattr(stdin, OptionalActions::Flush, &hidden)?;
    Ok(())
}

/// Shows again what is typed, also when the prompt was interrupted.
pub fn restore() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // A terminal that is gone needs no settings.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}
