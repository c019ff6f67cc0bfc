//! Colours and width of the output.

use crate::cli::ColorChoice;

/// Style of a part of the output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    Title,
    Address,
    Faint,
}

/// Appearance of the output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Appearance {
    pub colour: bool,
    /// Columns; unlimited for pipes and files.
    pub width: usize,
}

impl Appearance {
    pub fn detect(when: ColorChoice, terminal: bool, environment: impl Fn(&str) -> Option<String>) -> Self {
        let colour = match when {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => wants_colour(terminal, &environment),
        };
        let columns = environment("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        let width = if terminal { columns.or_else(window).unwrap_or(80) } else { usize::MAX };
        Self { colour, width }
    }

    /// Applies a style to sanitized text.
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

/// Decides on colours: NO_COLOR (<https://no-color.org>: set and not empty) wins, followed by CLICOLOR_FORCE,
/// CLICOLOR=0 and the terminal (<https://bixense.com/clicolors>).
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

    fn colour(when: ColorChoice, terminal: bool, variables: &[(&str, &str)]) -> bool {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Appearance::detect(when, terminal, find).colour
    }

    #[test]
    fn colours_follow_flag_environment_and_terminal() {
        assert!(colour(ColorChoice::Auto, true, &[]));
        assert!(!colour(ColorChoice::Auto, false, &[]));
        assert!(!colour(ColorChoice::Auto, true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(colour(ColorChoice::Auto, true, &[("NO_COLOR", "")]));
        assert!(colour(ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!colour(ColorChoice::Auto, true, &[("CLICOLOR", "0")]));
        assert!(!colour(ColorChoice::Auto, true, &[("TERM", "dumb")]));
        assert!(colour(ColorChoice::Always, false, &[("NO_COLOR", "1")]));
        assert!(!colour(ColorChoice::Never, true, &[]));
    }

    #[test]
    fn pipes_have_unlimited_width() {
        let columns = |name: &str| (name == "COLUMNS").then(|| "40".to_owned());
        assert_eq!(Appearance::detect(ColorChoice::Auto, true, columns).width, 40);
        assert_eq!(Appearance::detect(ColorChoice::Auto, false, columns).width, usize::MAX);
    }
}
