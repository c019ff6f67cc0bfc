//! CSS dimensions.

/// Splits a value into its number and its unit; `None` for keywords and functions.
pub(super) fn dimension(value: &str) -> Option<(f64, &str)> {
    let digits = value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    Some((number.parse().ok()?, unit.trim()))
}
