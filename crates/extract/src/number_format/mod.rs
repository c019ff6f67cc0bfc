//! Numbers of spreadsheet cells as a spreadsheet program shows them (ECMA-376 part 1, 18.8.30 and 18.8.31).
//!
//! Dates are an exception: a format with a day, month or year shows `2024-03-01` or `2024-03-01 10:30:00`.

mod builtin;
mod clock;
mod decimal;
mod digits;
mod fraction;
mod parse;
mod section;

use std::borrow::Cow;
use std::collections::HashMap;

use office_oxide::xlsx::date::DateTimeValue;

use self::decimal::Decimal;
use self::digits::Pattern;
use self::fraction::Fraction;
use self::parse::Token;
use self::section::{Kind, Section};

/// Maximum length of a text that the text section of a format is applied to, in bytes.
const MAX_TEXT: usize = 1_024;
/// Maximum number of formats of a workbook; cells with others show the plain number. Excel creates at most 250.
const MAX_FORMATS: usize = 4_096;

/// Number formats of a workbook by id.
#[derive(Debug, Default)]
pub(crate) struct NumberFormats {
    by_id: HashMap<u32, Option<NumberFormat>>,
}

impl NumberFormats {
    /// Parses the formats with the given ids. A file may declare another code for the id of a built-in format (ECMA-376
    /// part 1, 18.8.30).
    pub(crate) fn new<'c>(ids: impl Iterator<Item = u32>, declared: impl Fn(u32) -> Option<&'c str>) -> Self {
        let mut by_id = HashMap::new();
        for id in ids {
            if by_id.len() < MAX_FORMATS {
                by_id.entry(id).or_insert_with(|| NumberFormat::parse(declared(id).or_else(|| builtin::code(id))?));
            }
        }
        Self { by_id }
    }

    /// Returns the format with the id; `None` shows the plain number.
    pub(crate) fn get(&self, id: u32) -> Option<&NumberFormat> {
        self.by_id.get(&id)?.as_ref()
    }
}

/// Format code of cells, parsed once.
#[derive(Debug)]
pub(crate) struct NumberFormat {
    sections: Vec<Section>,
}

impl NumberFormat {
    /// Parses a format code. Returns `None` for a malformed one, whose cells show the plain number.
    fn parse(code: &str) -> Option<Self> {
        let sections = parse::sections(code)?.into_iter().map(Section::new).collect();
        Some(Self { sections })
    }

    /// Returns a number as the format shows it. Days count from 1904 instead of 1900 if `date1904` is set.
    pub(crate) fn number(&self, value: f64, date1904: bool) -> String {
        let chosen = section::choose(&self.sections, value).filter(|_| value.is_finite());
        chosen.and_then(|chosen| shown(chosen, value, date1904)).unwrap_or_else(|| general(value))
    }

    /// Returns a text as the format shows it: only a section with `@` changes it.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let section = self.sections.last().filter(|section| matches!(section.kind, Kind::Text));
        let Some(section) = section.filter(|section| section.tokens.len() > 1 && text.len() <= MAX_TEXT) else {
            return Cow::Borrowed(text);
        };
        let mut out = String::new();
        for token in &section.tokens {
            match token {
                Token::Text => out.push_str(text),
                other => out.push_str(&other.literal()),
            }
            if out.len() > 2 * MAX_TEXT {
                return Cow::Borrowed(text);
            }
        }
        Cow::Owned(out.trim().to_owned())
    }
}

/// Returns a number without a format: at most 15 significant digits, but all digits of integers that are exact.
pub(crate) fn general(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", Decimal::new(value).plain())
}

/// Returns the value as the section shows it. Returns `None` if it cannot show the value.
fn shown(chosen: section::Chosen, value: f64, date1904: bool) -> Option<String> {
    let section = chosen.section;
    let body = match &section.kind {
        Kind::Calendar => return Some(DateTimeValue::from_serial(value, date1904)?.to_iso_string()),
        Kind::Text => return None,
        Kind::Clock(clock) => clock.shown(value)?,
        Kind::Fraction(fraction) => fraction.shown(value)?,
        Kind::Number(pattern) => pattern.shown(value),
        Kind::Literal => section.tokens.iter().map(|token| general_token(token, value)).collect(),
    };
    // A section of literals shows no number, and no sign.
    let signed = match &section.kind {
        Kind::Literal => section.tokens.iter().any(|token| matches!(token, Token::General)),
        _ => true,
    };
    let sign = if value < 0.0 && signed && !chosen.unsigned { "-" } else { "" };
    Some(format!("{sign}{}", body.trim()))
}

fn general_token(token: &Token, value: f64) -> String {
    match token {
        Token::General => general(value.abs()),
        other => other.literal(),
    }
}

#[cfg(test)]
mod tests;
