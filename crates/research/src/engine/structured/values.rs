//! Values in sentences: numbers, dates, words of an enumeration.

use serde_json::{Number, Value};

use super::super::text::{dates, numbers};
use super::negations::denies;
use super::number_field::NumberField;

/// Returns the numbers of a sentence as JSON: calendar years for a field that is one, otherwise all but years and parts
/// of dates, and only those with the field's unit if there are any. A number with an ambiguous value is null. Versions and
/// addresses are no numbers.
///
/// `language`: ISO 639-1 code of the sentence.
pub(super) fn numbers_in(text: &str, language: Option<&str>, field: &NumberField, integer: bool) -> Vec<Value> {
    let dates = dates::dates(text);
    let mut quantities = numbers::quantities_in(text, language);
    quantities.retain(|quantity| !dates.iter().any(|(bytes, _)| bytes.contains(&quantity.bytes.start)));
    quantities.retain(|quantity| quantity.value.is_some() || !is_identifier(&text[quantity.digits.clone()]));
    if field.is_year {
        quantities.retain(|quantity| quantity.is_year || is_duration(&quantity.unit));
    } else {
        quantities.retain(|quantity| !quantity.is_year);
        if quantities.iter().any(|quantity| field.has_unit(&quantity.unit)) {
            quantities.retain(|quantity| field.has_unit(&quantity.unit));
        }
    }
    let mut found = Vec::new();
    for quantity in quantities {
        // Beside `5 years` a year can be the beginning of something else.
        let Some(value) = quantity.value.filter(|_| quantity.is_year == field.is_year) else {
            found.push(Value::Null);
            continue;
        };
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

/// Returns true for digits without a value that several full stops separate: a version, a clause or an IP address.
/// Commas are not counted, since they group digits differently in India.
fn is_identifier(digits: &str) -> bool {
    digits.matches(['.', '．']).count() > 1
}

/// Returns true for a unit that counts years.
fn is_duration(unit: &str) -> bool {
    matches!(unit, "year" | "years" | "jahr" | "jahre" | "jahren")
}

/// Returns the dates of a sentence as `2024-03-12`.
pub(super) fn dates_in(text: &str) -> Vec<Value> {
    dates::dates(text).into_iter().map(|(_, date)| Value::String(date.iso())).collect()
}

/// Returns the values of an enumeration that a sentence states. One with a negation states only those that have one.
///
/// `language`: ISO 639-1 code of the sentence.
pub(super) fn options_in(text: &str, language: Option<&str>, options: &[Value]) -> Vec<Value> {
    let mut named = named_in(text, language, options);
    if !named.is_empty() && denies(text, language) {
        named.retain(|option| option.as_str().is_some_and(|name| denies(name, language)));
    }
    named
}

/// Returns the values of an enumeration that a sentence names: as whole words, or as numbers of the same value.
fn named_in(text: &str, language: Option<&str>, options: &[Value]) -> Vec<Value> {
    let words = padded(text);
    let quantities = numbers::quantities_in(text, language);
    let has_number = |value: Option<f64>| value.is_some() && quantities.iter().any(|quantity| quantity.value == value);
    let named = |option: &&Value| match option {
        // Other texts of digits, such as the versions 3.1 and 3.10, are compared as they are written.
        Value::String(name) if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) => {
            has_number(name.parse().ok())
        }
        Value::String(name) => {
            let name = padded(name);
            name.len() > 2 && words.contains(&name)
        }
        Value::Number(number) => has_number(number.as_f64()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    };
    options.iter().filter(named).cloned().collect()
}

/// Words in lowercase with one space around each. A full stop or comma between digits belongs to its number.
fn padded(text: &str) -> String {
    let mut padded = String::from(" ");
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let is_separator = matches!(c, '.' | ',') && before.is_numeric();
        if c.is_alphanumeric() || (is_separator && characters.peek().is_some_and(|next| next.is_numeric())) {
            padded.push(c);
        } else if !padded.ends_with(' ') {
            padded.push(' ');
        }
        before = c;
    }
    if !padded.ends_with(' ') {
        padded.push(' ');
    }
    padded.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reads numbers for a field of this name without a description.
    fn read(text: &str, name: &str, integer: bool) -> Vec<Value> {
        numbers_in(text, Some("en"), &NumberField::of(name, ["", ""]), integer)
    }

    #[test]
    fn values_are_read_from_sentences() {
        assert_eq!(read("In 2019 it sold 1,200 units at 3.5 each", "units", true), [json!(1200)]);
        assert_eq!(read("Founded in 2019 with 3 people", "founding year", true), [json!(2019)]);
        assert_eq!(dates_in("on 12 March 2024"), [json!("2024-03-12")]);
        let options = [json!("red"), json!("dark blue"), json!(7)];
        assert_eq!(named_in("It is dark-blue, not Redish", None, &options), [json!("dark blue")]);
    }

    #[test]
    fn ambiguous_number_stands_beside_the_others() {
        let text = "The X200 pump weighs 1.250 kg and has 4 mounting feet.";
        assert_eq!(read(text, "weight", false), [Value::Null, json!(4)]);
        assert_eq!(read(text, "weight kg", false), [Value::Null]);
        assert_eq!(read("Made on 1.250 parts", "parts", true), [Value::Null]);
        assert_eq!(read("It costs 5,00,000 rupees in 3 shops.", "price", false), [Value::Null, json!(3)]);
    }

    #[test]
    fn versions_and_addresses_are_no_numbers() {
        assert_eq!(read("Foo 2.4.1 costs $20.", "price", false), [json!(20)]);
        assert!(read("See 10.0.0.1.", "price", false).is_empty());
        assert_eq!(read("It has 1.234.567 users.", "users", true), [json!(1_234_567)]);
    }

    #[test]
    fn years_are_read_for_calendar_years_only() {
        for (text, name, expected) in [
            ("The warranty of the X200 pump is 5 years since 2021.", "warranty years", &[5][..]),
            ("The lifespan of the T8 sensor is 10 years.", "lifespan years", &[10]),
            ("About 4,000 units of the T8 sensor are sold per year.", "units sold per year", &[4000]),
            ("Mitarbeiter haben 30 Tage Urlaub im Jahr.", "tage urlaub im jahr", &[30]),
            ("Founded in 2019 with 3 people.", "year founded", &[2019]),
            ("Das Haus mit 4 Etagen ist von 1931.", "Baujahr", &[1931]),
            ("Sales grew by 5 percent in 2023.", "year over year growth", &[5]),
        ] {
            let expected: Vec<Value> = expected.iter().map(|value| json!(value)).collect();
            assert_eq!(read(text, name, true), expected, "{text}");
        }
        let text = "Founded in 2019, 5 years after its rival.";
        assert_eq!(read(text, "founding year", true), [json!(2019), Value::Null]);
        let field = NumberField::of("founded", ["", "The year in which the company began"]);
        assert_eq!(numbers_in("Founded in 2019 with 3 people", None, &field, true), [json!(2019)]);
        let field = NumberField::of("founded", ["", "Founding year of the company"]);
        assert_eq!(numbers_in("Founded in 2019 with 3 people", None, &field, true), [json!(2019)]);
    }

    #[test]
    fn number_with_the_unit_of_the_field_is_preferred() {
        for (text, name, expected) in [
            ("The pressure is 30 bar (435 psi).", "max pressure bar", json!([30])),
            ("The pressure is 30 bar (435 psi).", "max pressure", json!([30, 435])),
            ("It is 30 bar, then 40 bar.", "max pressure bar", json!([30, 40])),
            ("Ten cost $5K, with 3 spare parts.", "cost usd", json!([5000])),
            ("The rate is 4 percent of 200.", "rate percent", json!([4])),
            ("The 3 pumps weigh 20 kg.", "weight of pumps", json!([3, 20])),
            ("Boxes of 5 units cost 20 euros.", "price per unit", json!([5, 20])),
        ] {
            assert_eq!(Value::Array(read(text, name, false)), expected, "{text}");
        }
    }

    #[test]
    fn denied_options_are_not_stated() {
        let options = [json!("red"), json!("available"), json!("not available"), json!(5)];
        for (text, expected) in [
            ("The drill Rho is not available in red.", json!(["not available"])),
            ("The drill Rho isn't sold in red, nor in 5 sizes.", json!([])),
            ("The drill Rho comes in red.", json!(["red"])),
        ] {
            assert_eq!(Value::Array(options_in(text, Some("en"), &options)), expected, "{text}");
        }
    }

    #[test]
    fn options_are_whole_numbers_and_words() {
        let numbers = [json!(5), json!(10), json!(20), json!(2.5), json!("5"), json!("3.1"), json!("5 hours")];
        for (text, expected) in [
            ("The T9 sensor charges in 2.5 hours.", json!([2.5])),
            ("It charges in 5 hours.", json!([5, "5", "5 hours"])),
            ("It needs version 3.10 of 20 parts.", json!([20])),
            ("It needs version 3.1.", json!(["3.1"])),
            ("It charges at -5 °C, in 1,010 places.", json!([])),
        ] {
            assert_eq!(Value::Array(named_in(text, Some("en"), &numbers)), expected, "{text}");
        }
    }
}
