//! Numbers, dates and times that texts state, and the comparison of statements with them.

use std::collections::BTreeSet;
use std::iter;

use super::dates::{self, Date};
use super::number_words::numbers_in_words;
use super::numbers::{Quantity, SCALES_OF_MONEY, quantities};
use super::similar::is_unspaced;
use super::times::{Time, is_afternoon, times};

/// Largest whole number that counts as stated anyway: it counts or orders things, or is a word in the texts.
const SMALL: f64 = 12.0;
/// Significant digits of a rounded number.
const ROUNDED_DIGITS: usize = 4;
/// Largest change of a number by rounding, relative to it.
const ROUNDING: f64 = 0.1;
/// Relative difference of numbers that count as equal, since decimal fractions are not exact.
const EQUAL: f64 = 1e-9;
/// Numbers of a statement that others of it are computed from.
const MAX_OPERANDS: usize = 8;
/// Longest remark in brackets, in bytes.
const MAX_REMARK: usize = 200;

/// Characters right after a number that multiply it in Chinese, Japanese and Korean.
const SCALE_CHARACTERS: [(char, f64); 6] =
    [('万', 1e4), ('萬', 1e4), ('만', 1e4), ('亿', 1e8), ('億', 1e8), ('억', 1e8)];

/// Numbers, dates and times of a text. The lists ascend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    numbers: Vec<f64>,
    /// Numbers before a scale, without it: 5.2 of `5.2 million`.
    unscaled: Vec<f64>,
    rounded: Vec<f64>,
    /// Numbers with those inside words: 1.24 of `v1.24`. They confirm a statement, but are no value of their own.
    in_words: Vec<f64>,
    dates: BTreeSet<Date>,
    times: BTreeSet<Time>,
}

impl Figures {
    pub fn of(text: &str) -> Self {
        let dates = dates::dates(text).into_iter().map(|(_, date)| date).collect();
        let mut known = Self { dates, times: times(text), ..Self::default() };
        for figure in figures(text) {
            if !figure.is_year {
                known.rounded.extend(figure.values.iter().flat_map(|value| roundings(*value)));
            }
            known.numbers.extend(figure.values.into_iter().chain(figure.groups));
            known.unscaled.extend(figure.unscaled);
        }
        known.numbers.extend(numbers_in_words(text));
        let apart = with_numbers_apart(text);
        if apart != text {
            known.in_words.extend(figures(&apart).into_iter().flat_map(|figure| figure.values));
        }
        for list in [&mut known.numbers, &mut known.unscaled, &mut known.rounded, &mut known.in_words] {
            list.sort_by(f64::total_cmp);
        }
        known
    }

    /// Returns true if the text states the number, with its sign. A scale after it may be missing, since the unit of the
    /// number can contain it.
    pub fn states(&self, number: f64) -> bool {
        contains(&self.numbers, number) || contains(&self.unscaled, number)
    }

    pub fn has_date(&self, date: Date) -> bool {
        self.dates.contains(&date)
    }

    pub fn has_time(&self, time: Time) -> bool {
        self.times.contains(&time)
    }

    /// Returns true if the text states a number of a statement, or one that is rounded to it. Signs do not count: the words
    /// around a number can say the same.
    fn covers(&self, figure: &Figure) -> bool {
        let is_rounded = |value: f64| !figure.is_year && contains(&self.rounded, value);
        let is_stated = |value: f64| self.states(value) || is_rounded(value) || contains(&self.in_words, value);
        figure.values.iter().any(|value| is_stated(*value) || is_stated(-value))
            // A table can have the scale in its heading.
            || figure.unscaled.is_some_and(|value| contains(&self.numbers, value) || contains(&self.numbers, -value))
    }
}

/// Returns true if every number of a statement is in one of the texts, or follows from its other numbers.
pub(crate) fn are_stated(statement: &str, texts: &[&Figures]) -> bool {
    let is_known = |figure: &Figure| figure.is_small() || texts.iter().any(|text| text.covers(figure));
    let (known, unknown): (Vec<Figure>, Vec<Figure>) = figures(statement).into_iter().partition(is_known);
    let operands: Vec<f64> = known.iter().flat_map(|figure| figure.values.iter().copied()).take(MAX_OPERANDS).collect();
    unknown.iter().all(|figure| figure.values.is_empty() || figure.follows_from(&operands))
}

/// Returns a statement without the remarks in brackets that have other numbers than the texts, such as converted units.
/// `None` if the rest has such numbers too, or is empty.
pub(crate) fn stated_part(statement: String, texts: &[&Figures]) -> Option<String> {
    if are_stated(&statement, texts) {
        return Some(statement);
    }
    let mut kept = String::with_capacity(statement.len());
    let mut rest = statement.as_str();
    while let Some((before, after)) = rest.split_once('(') {
        let near = &after[..after.floor_char_boundary(MAX_REMARK)];
        match near.split_once(')').filter(|(remark, _)| !remark.contains('(') && !are_stated(remark, texts)) {
            Some((remark, _)) => {
                kept.push_str(before.trim_end());
                rest = &after[remark.len() + 1..];
            }
            None => {
                kept.extend([before, "("]);
                rest = after;
            }
        }
    }
    kept.push_str(rest);
    (kept.chars().any(char::is_alphanumeric) && are_stated(&kept, texts)).then_some(kept)
}

/// A number of a text.
#[derive(Clone, Debug)]
struct Figure {
    /// The number with its scale; all readings of an ambiguous separator or scale, and of an hour. Empty if it has no reading.
    values: Vec<f64>,
    /// The number without its scale, if it has one.
    unscaled: Option<f64>,
    /// Numbers between its spaces, if these may stand between numbers of their own.
    groups: Vec<f64>,
    is_year: bool,
}

impl Figure {
    fn of(value: f64, is_year: bool) -> Self {
        Self { values: vec![value], unscaled: None, groups: Vec::new(), is_year }
    }

    fn read(text: &str, quantity: &Quantity) -> Self {
        let digits = &text[quantity.digits.clone()];
        let after = &text[quantity.digits.end..];
        let (mut values, mut unscaled, mut groups) = (Vec::new(), None, Vec::new());
        if let Some(value) = quantity.value {
            values.push(value);
            let alone = quantities(digits).into_iter().find_map(|alone| alone.value);
            unscaled = alone.map(|alone| alone.copysign(value)).filter(|alone| *alone != value);
            if unscaled.is_none() {
                values.extend(possible_scale(&quantity.unit, after).map(|scale| value * scale));
            }
            if (1.0..12.0).contains(&value) && is_afternoon(after) {
                values.push(value + 12.0);
            }
        } else {
            let grouped: String = digits.chars().filter(char::is_ascii_digit).collect();
            values.extend([digits.parse::<f64>(), grouped.parse()].into_iter().flatten());
            let parts = digits.split(char::is_whitespace).filter(|part| part.len() < digits.len());
            groups.extend(parts.flat_map(quantities).filter_map(|part| part.value));
        }
        values.retain(|value| value.is_finite());
        Self { values, unscaled, groups, is_year: quantity.is_year }
    }

    fn is_small(&self) -> bool {
        self.unscaled.is_none() && self.values.iter().any(|value| value.fract() == 0.0 && value.abs() <= SMALL)
    }

    /// Returns true if the number is the sum, difference, ratio or percentage of two others, possibly rounded.
    fn follows_from(&self, operands: &[f64]) -> bool {
        let pairs = operands.iter().enumerate().flat_map(|(at, a)| {
            let others = operands.iter().enumerate().filter(move |(other, _)| *other != at);
            others.map(move |(_, b)| (*a, *b))
        });
        let mut results = pairs.flat_map(|(a, b)| [a + b, a - b, a / b, 100.0 * a / b, 100.0 * (a - b) / b]);
        !self.is_year && results.any(|result| self.values.iter().any(|value| is_rounding(value.abs(), result.abs())))
    }
}

/// Returns the numbers of a text, and the parts of its dates.
fn figures(text: &str) -> Vec<Figure> {
    // In scripts without spaces, numbers stand beside letters. Spaces could group the digits around them.
    let is_letter = |c: char| is_unspaced(c) && c.is_alphabetic();
    let mut apart = String::with_capacity(text.len());
    for c in text.chars() {
        // All bytes stay in their places, where the letters are read too.
        if is_letter(c) { apart.extend(iter::repeat_n('\n', c.len_utf8())) } else { apart.push(c) }
    }
    let dates = dates::dates(&apart);
    let mut found = Vec::new();
    for (_, Date { year, month, day }) in &dates {
        let parts = [(f64::from(*year), true), (f64::from(*month), false), (f64::from(*day), false)];
        found.extend(parts.map(|(value, is_year)| Figure::of(value, is_year)));
    }
    let mut dates = dates.iter().peekable();
    for quantity in quantities(&apart) {
        let start = quantity.digits.start;
        while dates.next_if(|(bytes, _)| bytes.end <= start).is_some() {}
        if !dates.peek().is_some_and(|(bytes, _)| bytes.contains(&start)) {
            found.push(Figure::read(text, &quantity));
        }
    }
    found
}

/// Returns the text with a line break before each digit that follows a letter or underscore.
fn with_numbers_apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_numeric() && apart.ends_with(|before: char| before.is_alphabetic() || before == '_') {
            apart.push('\n');
        }
        apart.push(c);
    }
    apart
}

/// Returns the factor after a number that can be one or a unit: 1000 for `10k`, a million for `5 m`.
fn possible_scale(unit: &str, after: &str) -> Option<f64> {
    let of_character = SCALE_CHARACTERS.iter().find(|(character, _)| after.starts_with(*character));
    of_character
        .map(|(_, scale)| *scale)
        .or_else(|| SCALES_OF_MONEY.iter().find(|(word, _)| *word == unit).map(|(_, scale)| *scale))
}

/// Returns the roundings of a number that hardly change it.
fn roundings(number: f64) -> impl Iterator<Item = f64> {
    let rounded = move |decimals: usize| format!("{number:.decimals$e}").parse::<f64>().ok();
    (0..ROUNDED_DIGITS).filter_map(rounded).filter(move |rounded| is_near(*rounded, number))
}

fn is_near(rounded: f64, number: f64) -> bool {
    (rounded - number).abs() <= ROUNDING * number.abs()
}

fn is_rounding(rounded: f64, number: f64) -> bool {
    is_near(rounded, number) && (is_equal(rounded, number) || roundings(number).any(|other| is_equal(rounded, other)))
}

fn is_equal(one: f64, other: f64) -> bool {
    (one - other).abs() <= EQUAL * one.abs()
}

/// Returns true if an ascending list has the number.
fn contains(list: &[f64], number: f64) -> bool {
    let tolerance = EQUAL * number.abs();
    let at = list.partition_point(|known| *known < number - tolerance);
    number.is_finite() && list.get(at).is_some_and(|known| *known <= number + tolerance)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn is_stated(statement: &str, text: &str) -> bool {
        are_stated(statement, &[&Figures::of(text)])
    }

    #[test]
    fn numbers_are_compared_in_all_notations() {
        for (statement, text) in [
            ("It runs at 30 bar.", "30 bar (435 psi)"),
            ("Es hat 1.200 Einwohner und kostet 3,5 Euro.", "It has 1,200 inhabitants and costs 3.5 euro."),
            ("Revenue was 5.2 million.", "$5,200,000"),
            ("Revenue was 5.2 million.", "Revenue in millions: 5.2"),
            ("Revenue was $5.2M.", "5.2 million dollars"),
            ("It fell to 40 degrees below zero.", "It fell to -40 °C."),
            ("压力是30巴。", "The pressure is 30 bar."),
            ("The pressure is 30 bar.", "水泵的压力是30巴。"),
            ("Version 3.5.100", "Since version 3.5.100 it is fast."),
            ("It lasts 20 years.", "It lasts twenty years."),
            ("On 14 March 2024", "2024-03-14"),
            ("On 2024-03-14", "am 14. März 2024"),
            ("Kubernetes 1.24 removed it.", "Kubernetes v1.24 removed it."),
            ("Version 2.0.1 is out.", "v2.0.1 is out"),
            ("In 2024 it earned 35 million.", "35 million in FY2024"),
            ("It uses SHA 256 and costs 25 euros.", "SHA256, EUR25"),
            ("There are 25 of them.", "_25_"),
            ("في عام 2019", "وُلد و٢٠١٩"),
            ("It has 500 g.", "每箱有3个500克的罐头"),
            ("From 120 to 150.", "Revenue 120 135 150"),
            ("From 120 to 150.", "Revenue 120\u{a0}135 150"),
            ("It has 120,135 parts.", "It has 120 135 parts."),
            ("It took 18 months.", "It took eighteen months."),
            ("It has 25 rooms.", "It has twenty-five rooms."),
            ("It has 200 staff.", "It has two hundred staff."),
            ("It has 3 million users.", "It has three million users."),
            ("It has 10,000 downloads.", "It has 10k downloads."),
            ("It takes 128K.", "It takes 128,000 tokens."),
            ("It earned €5,000,000.", "It earned EUR 5M."),
            ("It earned 50,000,000 rupees.", "It earned 5 crore rupees."),
            ("It has 1.2 million people.", "有120万人"),
            ("有120万人", "It has 1.2 million people."),
            ("It has 500,000,000 users.", "5억 명"),
            ("It begins at 14:30.", "It begins at 2:30 pm."),
            ("It begins at 14:30.", "It begins at 2:30 p.m."),
            ("It begins at 14 Uhr.", "It begins at 2 PM."),
            ("No digits", ""),
        ] {
            assert!(is_stated(statement, text), "{statement} {text}");
        }
        for (statement, text) in [
            ("It runs at 900 bar.", "30 bar (435 psi)"),
            ("It runs at 43 bar.", "30 bar (435 psi)"),
            ("It runs at 0.3 bar.", "30 bar"),
            ("Revenue was 5.2 billion.", "5.2 million dollars"),
            ("压力是900巴。", "The pressure is 30 bar."),
            ("On 14 March 2024", "14 March 2023"),
            ("In 2020", "In 2019"),
            ("It has 5 billion users.", "It has three million users."),
            ("It has 10,000 downloads.", "It has 20k downloads."),
            ("It begins at 14:30.", "It begins at 2:30 am."),
            ("It begins at 14:30.", "It has 2 pmx, and 30 more."),
            ("It has 1.2 million people.", "有120亿人"),
            ("It has 3500 g.", "每箱有3个500克的罐头"),
            ("It costs 500 euros.", "It costs 2\u{a0}500 euros."),
            ("Kubernetes 1.25 removed it.", "Kubernetes v1.24 removed it."),
        ] {
            assert!(!is_stated(statement, text), "{statement} {text}");
        }
    }

    #[test]
    fn numbers_that_follow_from_stated_ones_are_known() {
        for (statement, text) in [
            // Counts and orders.
            ("There are 3 of them, the 2nd for 12 hours.", ""),
            // Rounded.
            ("About 1.2 million people live there.", "1,198,432 people"),
            ("Around 80 % agree.", "79.6 %"),
            ("It is sold in over 100 countries.", "It is sold in 108 countries."),
            ("More than 50 % agree, nearly 200 people.", "54 % of them, 190 people"),
            // Computed from others of the sentence.
            ("It reaches 40 bar, 16 bar more than the other with 24 bar.", "24 bar, 40 bar"),
            ("It rose from 24 to 30 bar, by 25 %.", "24 bar, 30 bar"),
            ("Together 24 and 30 are 54.", "24, 30"),
        ] {
            assert!(is_stated(statement, text), "{statement}");
        }
        for (statement, text) in [
            ("It reaches 16 bar more.", "24 bar, 40 bar"),
            ("About 80 % agree.", "72 %"),
            ("It has 35 bar.", "28 bar"),
            ("It rose from 24 to 30 bar, by 35 %.", "24 bar, 30 bar"),
        ] {
            assert!(!is_stated(statement, text), "{statement}");
        }
    }

    #[test]
    fn remarks_with_other_numbers_are_removed() {
        let known = Figures::of("30 bar in 2019");
        for (statement, expected) in [
            ("It has 30 bar (435 psi) at most.", Some("It has 30 bar at most.")),
            ("It has (since 2019) 30 bar (or 435 psi).", Some("It has (since 2019) 30 bar.")),
            ("It has ((435 psi) 30 bar", Some("It has ( 30 bar")),
            ("It has 30 bar (a", Some("It has 30 bar (a")),
            ("It has 900 bar (30).", None),
            ("(435 psi)", None),
        ] {
            assert_eq!(stated_part(statement.to_owned(), &[&known]).as_deref(), expected, "{statement}");
        }
    }

    #[test]
    fn values_are_stated_with_their_sign() {
        let known = Figures::of("It fell to -4 °C on 12 March 2024. Revenue: 5.2 million, or 3.500 each.");
        for stated in [-4.0, 5.2, 5.2e6, 3.5, 3500.0, 2024.0] {
            assert!(known.states(stated), "{stated}");
        }
        let named = Figures::of("The X200 weighs 4 kg.");
        assert!(named.states(4.0) && !named.states(200.0));
        for other in [4.0, 5.0, 52.0, 2023.0, f64::NAN, f64::INFINITY] {
            assert!(!known.states(other), "{other}");
        }
        let date = |day| Date { year: 2024, month: 3, day };
        assert!(known.has_date(date(12)) && !known.has_date(date(13)));
    }

    #[test]
    fn long_texts_are_compared_in_linear_time() {
        let started = Instant::now();
        let numbers: String = (0..10_000).map(|number| format!("{} ", 10_000 + 7 * number)).collect();
        assert!(is_stated(&numbers, &numbers));
        assert!(!is_stated(&numbers, &"2024-03-12 ".repeat(5_000)));
        assert_eq!(stated_part("(99 ".repeat(5_000), &[]), None);
        // It takes three seconds of a processor without optimization.
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
        assert!(is_stated(&"9".repeat(1_000), ""), "it has no reading");
    }
}
