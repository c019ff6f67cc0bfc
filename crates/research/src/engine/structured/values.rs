//! Values in sentences: numbers, dates, words of an enumeration, yes and no.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

use super::super::text::{dates, numbers};

/// Returns the numbers of a sentence as JSON, without years and parts of dates if others are left.
pub(super) fn numbers_in(text: &str, field: &str, integer: bool) -> Vec<Value> {
    let dates = dates::dates(text);
    let wants_year = field.to_lowercase().contains("year") || field.to_lowercase().contains("jahr");
    let mut found = Vec::new();
    for quantity in numbers::quantities(text) {
        let in_date = dates.iter().any(|(bytes, _)| bytes.contains(&quantity.bytes.start));
        let Some(value) = quantity.value.filter(|_| quantity.is_year == wants_year && !in_date) else { continue };
        if integer && value.fract() != 0.0 {
            continue;
        }
        // Whole numbers of this size are exact.
        let whole = value.fract() == 0.0 && value.abs() < 9e15;
        let number = if whole { Some(Number::from(value as i64)) } else { Number::from_f64(value) };
        found.extend(number.map(Value::Number));
    }
    found
}

/// Returns the dates of a sentence as `2024-03-12`.
pub(super) fn dates_in(text: &str) -> Vec<Value> {
    dates::dates(text).into_iter().map(|(_, date)| Value::String(date.iso())).collect()
}

/// Returns the values of an enumeration that a sentence names as whole words.
pub(super) fn named_in(text: &str, options: &[Value]) -> Vec<Value> {
    let words = padded(text);
    let named = |option: &&Value| match option {
        Value::String(name) => {
            let name = padded(name);
            name.len() > 2 && words.contains(&name)
        }
        Value::Number(number) => words.contains(&padded(&number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    };
    options.iter().filter(named).cloned().collect()
}

/// Words in lowercase with one space around each.
fn padded(text: &str) -> String {
    let mut padded = String::from(" ");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        padded.push_str(&word.to_lowercase());
        padded.push(' ');
    }
    padded
}

/// Returns false for a sentence with a negation, otherwise true.
pub(super) fn affirmed_in(text: &str) -> bool {
    const NEGATIONS: &[&str] = &[
        "not", "no", "never", "without", "cannot", "neither", "nor", "none", "isn", "doesn", "don", "won", "can't",
        "nicht", "kein", "keine", "keinen", "ohne", "nie", "ne", "pas", "sans", "jamais", "sin", "nunca", "non",
        "senza",
    ];
    let words: BTreeSet<String> = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    !NEGATIONS.iter().any(|negation| words.contains(*negation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_read_from_sentences() {
        assert_eq!(numbers_in("In 2019 it sold 1,200 units at 3.5 each", "units", true), [json!(1200)]);
        assert_eq!(numbers_in("Founded in 2019 with 3 people", "founding year", true), [json!(2019)]);
        assert_eq!(dates_in("on 12 March 2024"), [json!("2024-03-12")]);
        let options = [json!("red"), json!("dark blue"), json!(7)];
        assert_eq!(named_in("It is dark-blue, not Redish", &options), [json!("dark blue")]);
        assert!(affirmed_in("It is waterproof.") && !affirmed_in("It is not waterproof."));
    }
}
