//! Times of day in texts.

use std::collections::BTreeSet;

/// A time of day, without its zone.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Time {
    hour: u8,
    minute: u8,
    second: u8,
}

impl Time {
    pub const MIDNIGHT: Self = Self { hour: 0, minute: 0, second: 0 };

    /// Reads a time of ISO 8601 in UTC or without a zone, to the second: `09:30`, `09:30:00Z`, `09:30:00.000+00:00`.
    pub fn from_iso(text: &str) -> Option<Self> {
        let (time, rest) = clock(text)?;
        let zone = rest.strip_prefix('.').map_or(rest, |fraction| fraction.trim_start_matches('0'));
        matches!(zone, "" | "Z" | "z" | "+00:00" | "-00:00").then_some(time)
    }

    /// Returns the time for one whose half of the day follows it.
    fn in_half(self, after: &str) -> Self {
        let hour = match self.hour {
            12 if is_morning(after) => 0,
            hour @ 1..12 if is_afternoon(after) => hour + 12,
            hour => hour,
        };
        Self { hour, ..self }
    }
}

/// Returns the times that a text states: `9:30`, `09:30:15`, `9h30`, `2:30 pm`, `2 p.m.`
pub(crate) fn times(text: &str) -> BTreeSet<Time> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        match clock(digits).or_else(|| whole_hour(digits)) {
            Some((time, after)) => {
                found.insert(time.in_half(after));
                rest = after;
            }
            None => rest = digits.trim_start_matches(|c: char| c.is_ascii_digit()),
        }
    }
    found
}

/// Returns true if an hour before this text is after noon: `2 pm`, `2:30 p.m.`
pub(super) fn is_afternoon(after_hour: &str) -> bool {
    has_mark(after_hour, ["pm", "p.m"])
}

fn is_morning(after_hour: &str) -> bool {
    has_mark(after_hour, ["am", "a.m"])
}

fn has_mark(after_hour: &str, marks: [&str; 2]) -> bool {
    let minutes = after_hour.strip_prefix(':').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let after = minutes.unwrap_or(after_hour).trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    marks.iter().any(|mark| {
        let is_mark = after.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
        is_mark && !after[mark.len()..].starts_with(char::is_alphanumeric)
    })
}

/// Reads the hours, minutes and seconds at the start of a text. Returns them with the rest.
fn clock(text: &str) -> Option<(Time, &str)> {
    let (hour, rest) = number(text, 1, 23)?;
    let (minute, rest) = number(rest.strip_prefix([':', 'h'])?, 2, 59)?;
    let seconds = rest.strip_prefix(':').and_then(|rest| number(rest, 2, 59));
    let (second, rest) = seconds.unwrap_or((0, rest));
    Some((Time { hour, minute, second }, rest))
}

/// Reads an hour at the start of a text that its half of the day follows.
fn whole_hour(text: &str) -> Option<(Time, &str)> {
    let (hour, rest) = number(text, 1, 12)?;
    (is_morning(rest) || is_afternoon(rest)).then_some((Time { hour, ..Time::MIDNIGHT }, rest))
}

/// Reads a number of at least `digits` and at most two digits at the start of a text.
fn number(text: &str, digits: usize, max: u8) -> Option<(u8, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let length = text.len() - rest.len();
    let value = text[..length].parse::<u8>().ok().filter(|value| *value <= max)?;
    (digits..=2).contains(&length).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Vec<String> {
        times(text).into_iter().map(|time| format!("{:02}:{:02}:{:02}", time.hour, time.minute, time.second)).collect()
    }

    #[test]
    fn times_are_read_in_several_notations() {
        for (text, expected) in [
            ("14 March 2024 at 09:30 UTC", vec!["09:30:00"]),
            ("2024-03-14T09:30:15Z", vec!["09:30:15"]),
            ("le 14 mars à 9h30, puis 14h05", vec!["09:30:00", "14:05:00"]),
            ("2:30 pm, 2:30\u{a0}P.M. or 11 a.m.", vec!["11:00:00", "14:30:00"]),
            ("12:30 am, 12:30 pm, 12 am", vec!["00:00:00", "00:30:00", "12:30:00"]),
            ("24:00, 9:60, 9:5, 009:30, 9:300, 2 pmx, 13 pm, 2024-03-14, 12.03.2024, 30 bar, 99999999999:30", vec![]),
        ] {
            assert_eq!(stated(text), expected, "{text}");
        }
    }

    #[test]
    fn times_of_iso_8601_are_read_as_a_whole() {
        let half_past_nine = Time { hour: 9, minute: 30, second: 0 };
        for (text, expected) in [
            ("09:30", Some(half_past_nine)),
            ("09:30:00.000Z", Some(half_past_nine)),
            ("09:30:00+00:00", Some(half_past_nine)),
            ("00:00:00Z", Some(Time::MIDNIGHT)),
            ("09:30:00.5Z", None),
            ("09:30:00+09:00", None),
            ("09:30 in the morning", None),
            ("09", None),
            ("", None),
        ] {
            assert_eq!(Time::from_iso(text), expected, "{text}");
        }
    }
}
