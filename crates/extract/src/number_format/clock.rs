//! Times of day and durations: `h:mm`, `mm:ss.0`, `h:mm AM/PM`, `[h]:mm`.

use super::parse::{Digit, Token, Unit};

/// Maximum number of days, positive or negative. Excel's calendar has three million.
const MAX_DAYS: f64 = 1e8;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// Maximum digits of a fraction of a second.
const MAX_PLACES: usize = 3;

#[derive(Debug)]
pub(super) struct Clock {
    parts: Vec<Part>,
    /// Digits of the fraction of a second. Without them, seconds are rounded.
    places: usize,
    half_days: bool,
}

#[derive(Debug)]
enum Part {
    Token(Token),
    /// Fraction of a second with its number of digits.
    Fraction(usize),
}

impl Clock {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let mut parts = Vec::with_capacity(tokens.len());
        let mut rest = tokens.iter().peekable();
        let mut after_second = false;
        while let Some(token) = rest.next() {
            let zero = |token: &&Token| **token == Token::Digit(Digit::Zero);
            if after_second && *token == Token::Point && rest.peek().is_some_and(zero) {
                let width = std::iter::from_fn(|| rest.next_if(zero)).count();
                parts.push(Part::Fraction(width.min(MAX_PLACES)));
                continue;
            }
            after_second = matches!(token, Token::Time(Unit::Second, _) | Token::Elapsed(Unit::Second, _));
            parts.push(Part::Token(token.clone()));
        }
        let places = parts.iter().map(|part| if let Part::Fraction(width) = part { *width } else { 0 }).max();
        let half_days = tokens.iter().any(|token| matches!(token, Token::HalfDay(..)));
        Self { parts, places: places.unwrap_or(0), half_days }
    }

    /// Returns the absolute value, a number of days. Returns `None` for a number that is too large.
    pub(super) fn shown(&self, value: f64) -> Option<String> {
        let days = value.abs();
        if days > MAX_DAYS {
            return None;
        }
        let unit = 10u64.pow(self.places as u32);
        let ticks = (days * SECONDS_PER_DAY * unit as f64).round() as u64;
        let (seconds, fraction) = (ticks / unit, ticks % unit);
        let hour = seconds / 3_600 % 24;
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Fraction(width) => {
                    let digits = format!("{fraction:0places$}", places = self.places);
                    out.push('.');
                    out.extend(digits.chars().take(*width));
                }
                Part::Token(Token::Time(unit, width)) => {
                    let number = match unit {
                        Unit::Hour if self.half_days => (hour + 11) % 12 + 1,
                        Unit::Hour => hour,
                        Unit::Minute => seconds / 60 % 60,
                        Unit::Second => seconds % 60,
                    };
                    push(number, (*width).min(2), &mut out);
                }
                Part::Token(Token::Elapsed(unit, width)) => {
                    let number = match unit {
                        Unit::Hour => seconds / 3_600,
                        Unit::Minute => seconds / 60,
                        Unit::Second => seconds,
                    };
                    push(number, *width, &mut out);
                }
                Part::Token(Token::HalfDay(morning, afternoon)) => {
                    out.push_str(if hour < 12 { morning } else { afternoon });
                }
                Part::Token(other) => out.push_str(&other.literal()),
            }
        }
        Some(out)
    }
}

fn push(number: u64, width: usize, out: &mut String) {
    out.push_str(&format!("{number:0width$}"));
}
