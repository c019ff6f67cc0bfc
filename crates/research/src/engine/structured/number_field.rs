//! Hints of a field about its number.

/// Ways to write one unit.
const SAME_UNITS: &[&[&str]] = &[
    &["$", "usd", "dollar", "dollars"],
    &["€", "eur", "euro", "euros"],
    &["£", "gbp", "pound", "pounds"],
    &["¥", "jpy", "yen", "cny", "yuan"],
    &["₹", "inr", "rupee", "rupees"],
    &["%", "percent", "percentage", "pct", "prozent"],
    &["°c", "celsius"],
    &["°f", "fahrenheit"],
];

/// Unit of a field, and whether it is a calendar year.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberField {
    /// Last word of the name in lowercase, such as `bar` in `max_pressure_bar`. Any word, not only a unit.
    unit: String,
    pub is_year: bool,
}

impl NumberField {
    /// `name`: words of the field's name. `texts`: its title and description.
    pub fn of(name: &str, texts: [&str; 2]) -> Self {
        let name = words(name);
        let is_year = ends_with_year(&name) || opens_with_year(&name);
        Self { unit: unit(&name), is_year: is_year || texts.iter().any(|text| opens_with_year(&words(text))) }
    }

    /// Returns true if the name ends with a unit, in lowercase, of the same meaning.
    pub fn has_unit(&self, unit: &str) -> bool {
        if unit.is_empty() || self.unit.is_empty() {
            return false;
        }
        let is_plural = |one: &str, other: &str| one.len() > 2 && other.strip_suffix('s') == Some(one);
        *unit == *self.unit
            || is_plural(unit, &self.unit)
            || is_plural(&self.unit, unit)
            || SAME_UNITS.iter().any(|words| words.contains(&unit) && words.contains(&&*self.unit))
    }
}

/// Returns the words of a text in lowercase.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Returns the last word, unless it tells what is counted or measured: `weight of pumps`, `price per unit`.
fn unit(name: &[String]) -> String {
    match name {
        [.., before, _] if matches!(&**before, "of" | "per" | "for" | "by" | "from" | "pro" | "je" | "von") => {
            String::new()
        }
        [.., last] => last.clone(),
        [] => String::new(),
    }
}

fn is_year(word: &str) -> bool {
    word == "year" || word.ends_with("jahr")
}

/// Matches `founding year` and `Baujahr`, not `units per year`.
fn ends_with_year(name: &[String]) -> bool {
    const PERIODS: &[&str] =
        &["a", "current", "each", "every", "im", "in", "je", "last", "per", "previous", "pro", "the", "this"];
    match name {
        [.., before, last] => is_year(last) && !PERIODS.contains(&&**before),
        [last] => is_year(last),
        [] => false,
    }
}

/// Matches `year founded` and `The year in which it began`, not `year over year growth`.
fn opens_with_year(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str).skip_while(|word| matches!(*word, "the" | "a" | "das" | "ein"));
    words.next().is_some_and(is_year) && !words.next().is_some_and(|next| matches!(next, "over" | "on" | "to" | "end"))
}
