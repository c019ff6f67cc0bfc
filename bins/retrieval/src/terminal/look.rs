//! Colours and width.

use crate::cli::When;

/// What a part of the output is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    Title,
    Address,
    Faint,
}

/// How output looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Look {
    pub colour: bool,
    /// Columns; a pipe or a file has no end.
    pub width: usize,
}

impl Look {
    pub fn detect(when: When, terminal: bool, environment: impl Fn(&str) -> Option<String>) -> Self {
        let colour = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => wants_colour(terminal, &environment),
        };
        let columns = environment("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        let width = if terminal { columns.or_else(window).unwrap_or(80) } else { usize::MAX };
        Self { colour, width }
    }

    /// The text in its style. It must be harmless already.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Title => "1",
            Style::Address => "36",
            Style::Faint => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// NO_COLOR (<https://no-color.org>: set and not empty) wins; then CLICOLOR_FORCE, CLICOLOR=0 and the terminal
/// (<https://bixense.com/clicolors>).
fn wants_colour(terminal: bool, environment: &impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| environment(name).filter(|value| !value.is_empty());
    if set("NO_COLOR").is_some() {
        return false;
    }
    if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let refused = set("CLICOLOR").is_some_and(|value| value == "0") || set("TERM").is_some_and(|term| term == "dumb");
    terminal && !refused
}

fn window() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(when: When, terminal: bool, variables: &[(&str, &str)]) -> bool {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Look::detect(when, terminal, find).colour
    }

    #[test]
    fn colours_follow_flag_environment_and_terminal() {
        assert!(colour(When::Auto, true, &[]));
        assert!(!colour(When::Auto, false, &[]));
        assert!(!colour(When::Auto, true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(colour(When::Auto, true, &[("NO_COLOR", "")]));
        assert!(colour(When::Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!colour(When::Auto, true, &[("CLICOLOR", "0")]));
        assert!(!colour(When::Auto, true, &[("TERM", "dumb")]));
        assert!(colour(When::Always, false, &[("NO_COLOR", "1")]));
        assert!(!colour(When::Never, true, &[]));
    }

    #[test]
    fn a_pipe_has_no_width() {
        let columns = |name: &str| (name == "COLUMNS").then(|| "40".to_owned());
        assert_eq!(Look::detect(When::Auto, true, columns).width, 40);
        assert_eq!(Look::detect(When::Auto, false, columns).width, usize::MAX);
    }
}
