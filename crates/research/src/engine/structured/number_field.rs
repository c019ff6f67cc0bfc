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
        let is_year = ends_with_year(&name) || names_year(&name);
        Self { unit: unit(&name), is_year: is_year || texts.iter().any(|text| names_year(&words(first_clause(text)))) }
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

/// Returns the text to its first mark between clauses: `Founding year` of `Founding year (YYYY)`.
fn first_clause(text: &str) -> &str {
    text.split(['.', ',', ';', ':', '(']).next().unwrap_or_default()
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

/// Words before a year that make it a period, and no calendar year.
const PERIODS: &[&str] =
    &["a", "current", "each", "every", "im", "in", "je", "last", "per", "previous", "pro", "the", "this"];

/// Words that make a period of any later year in a phrase.
const BEFORE_PERIODS: &[&str] =
    &["by", "during", "for", "from", "full", "half", "next", "of", "one", "over", "prior", "to", "within"];

/// Words that continue a phrase about a calendar year.
const AFTER_YEAR: &[&str] =
    &["as", "at", "der", "des", "for", "in", "is", "of", "or", "that", "the", "von", "was", "when"];

/// Words of a phrase within which a calendar year is named.
const OPENING_WORDS: usize = 4;

/// Matches `founding year` and `Baujahr`, not `units per year`.
fn ends_with_year(name: &[String]) -> bool {
    match name {
        [.., before, last] => is_year(last) && !PERIODS.contains(&&**before),
        [last] => is_year(last),
        [] => false,
    }
}

/// Matches `year founded`, `The year in which it began`, `Publication year of the book` and `founded in year`, not `year
/// over year growth` and `Revenue in the fiscal year`.
fn names_year(words: &[String]) -> bool {
    let articles = words.iter().take_while(|word| matches!(&***word, "the" | "a" | "das" | "ein")).count();
    let words = &words[articles..];
    let Some(at) = words.iter().take(OPENING_WORDS).position(|word| is_year(word)) else { return false };
    let next = words.get(at + 1).map_or("", |word| &**word);
    match &words[..at] {
        [] => !matches!(next, "over" | "on" | "to" | "end"),
        [.., before] if matches!(&**before, "which" | "what") => true,
        // Of `units sold in year` it is a period.
        [first, preposition] if preposition == "in" => first.ends_with("ed") || matches!(&**first, "built" | "born"),
        before => {
            let is_period = |word: &String| PERIODS.contains(&&**word) || BEFORE_PERIODS.contains(&&**word);
            // Alone, `fiscal year` is the name of one.
            let is_of_accounts = before[1..].iter().any(|word| matches!(&**word, "fiscal" | "financial"));
            (next.is_empty() || AFTER_YEAR.contains(&next)) && !is_of_accounts && !before.iter().any(is_period)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_name_calendar_years_or_periods() {
        for phrase in [
            "Founding year of the company",
            "Four-digit year of foundation",
            "4-digit year of foundation",
            "Publication year",
            "Release year (YYYY)",
            "Founding year. Null if unknown.",
            "Calendar year in which it began",
            "In which year was it founded?",
            "The year in which it began",
            "Year founded",
            "Vierstelliges Baujahr des Hauses",
            "Fiscal year of the report",
            "founded in year",
            "first year of production",
        ] {
            assert!(NumberField::of("founded", ["", phrase]).is_year, "{phrase}");
            assert!(NumberField::of("founded", [phrase, ""]).is_year, "{phrase}");
        }
        for phrase in [
            "",
            "the",
            "Units per year",
            "Units sold per year in Europe",
            "Days per calendar year",
            "Revenue in the fiscal year",
            "Revenue fiscal year in euros",
            "Revenue in year of the report",
            "Profit by year in euros",
            "Price for one year of support",
            "Full year of revenue",
            "Year over year growth",
            "Year-to-date sales",
            "Units sold in year",
            "Urlaub im Jahr",
            "Urlaub pro Jahr der Firma",
            "Warranty in years",
            "Price of a seat, this is for the first year of use",
        ] {
            assert!(!NumberField::of("count", ["", phrase]).is_year, "{phrase}");
        }
        for (name, is_year) in [
            ("founded in year", true),
            ("first year of production", true),
            ("date of construction year", true),
            ("fiscal year", true),
            ("warranty years", false),
            ("units sold in year", false),
            ("tage urlaub im jahr", false),
        ] {
            assert_eq!(NumberField::of(name, ["", ""]).is_year, is_year, "{name}");
        }
    }
}
