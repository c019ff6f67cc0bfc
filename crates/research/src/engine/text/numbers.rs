//! Numbers with their units.

use std::ops::Range;

use retrieval_core::analysis::Language;

/// A number in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// Bytes of the number with its unit.
    pub bytes: Range<usize>,
    /// Bytes of its digits and separators.
    pub digits: Range<usize>,
    /// `None` if its separators are ambiguous, as in `3.500`, or in `3 500` unless the language groups digits so.
    pub value: Option<f64>,
    /// Lowercase word or sign after the number, or the currency sign before it. Empty if there is none.
    pub unit: String,
    /// True for a whole number without separators, sign and unit that can be a year.
    pub is_year: bool,
}

/// Words that multiply a number.
pub(super) const SCALES: &[(&str, f64)] = &[
    ("thousand", 1e3),
    ("tausend", 1e3),
    ("mille", 1e3),
    ("mil", 1e3),
    ("duizend", 1e3),
    ("lakh", 1e5),
    ("million", 1e6),
    ("millions", 1e6),
    ("millionen", 1e6),
    ("mio", 1e6),
    ("millones", 1e6),
    ("milioni", 1e6),
    ("crore", 1e7),
    ("billion", 1e9),
    ("billions", 1e9),
    ("milliarden", 1e9),
    ("milliards", 1e9),
    ("mrd", 1e9),
    ("trillion", 1e12),
];

/// Scales after an amount with its currency sign before it, as in `$5M`. Elsewhere `5 m` are metres.
pub(super) const SCALES_OF_MONEY: &[(&str, f64)] =
    &[("k", 1e3), ("m", 1e6), ("mn", 1e6), ("b", 1e9), ("bn", 1e9), ("t", 1e12), ("tn", 1e12)];

/// Words that are not units.
const NOT_UNITS: &[&str] = &[
    "and", "or", "to", "in", "on", "of", "the", "a", "at", "by", "for", "from", "is", "was", "were", "are", "with",
    "than", "as", "und", "oder", "bis", "im", "der", "die", "das", "von", "et", "ou", "de", "la", "le", "y", "o", "e",
];

/// Zeros of the scripts whose digits are read beside ASCII: Arabic, Persian, nine scripts of India, Thai, Lao, Tibetan,
/// Myanmar, Khmer, Mongolian, and full-width forms. The other digits follow each of them.
const ZEROS: [char; 18] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}', '\u{c66}', '\u{ce6}',
    '\u{d66}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{17e0}', '\u{1810}', '\u{ff10}',
];

/// Returns the numbers of a text in order. A digit inside a word (`B2B`) is not a number.
pub(crate) fn quantities(text: &str) -> Vec<Quantity> {
    quantities_in(text, None)
}

/// Returns the numbers of a text in order, as its language writes them: an ISO 639-1 code.
pub(crate) fn quantities_in(text: &str, language: Option<&str>) -> Vec<Quantity> {
    let has_spaces = language.and_then(Language::from_code).is_some_and(groups_by_spaces);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| ascii_digit(c).is_some()).map(|offset| at + offset) {
        let before = text[..start].chars().next_back();
        let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let (digits, length) = leading_digits(&text[start..], !is_in_word);
        at = start + length;
        if !is_in_word {
            let value = value(&digits, has_spaces);
            found.push(quantity(text, start..at, &digits, value, before));
        }
    }
    found
}

/// Returns true for languages in which a space between digits groups them, as in `12 500`.
fn groups_by_spaces(language: Language) -> bool {
    matches!(
        language,
        Language::Afrikaans
            | Language::Belarusian
            | Language::Bulgarian
            | Language::Czech
            | Language::Estonian
            | Language::Finnish
            | Language::French
            | Language::Hungarian
            | Language::Latvian
            | Language::Lithuanian
            | Language::Norwegian
            | Language::Polish
            | Language::Portuguese
            | Language::Russian
            | Language::Slovak
            | Language::Spanish
            | Language::Swedish
            | Language::Ukrainian
    )
}

/// Returns the digits at the start of a text with the separators between them, in ASCII but for [`HARD_SPACE`], and
/// their length in the text in bytes. `has_groups`: spaces can be separators.
fn leading_digits(text: &str, has_groups: bool) -> (String, usize) {
    let mut digits = String::new();
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let next = rest.chars().next().filter(|next| ascii_digit(*next).is_some());
        let separator = || ascii_separator(c, next?);
        let space = || if has_groups { group_space(&digits, c, rest) } else { None };
        match ascii_digit(c).or_else(separator).or_else(space) {
            Some(c) => digits.push(c),
            None => return (digits, at),
        }
    }
    (digits, text.len())
}

/// Stands for all spaces that no line may break at. They group digits in every language.
const HARD_SPACE: char = '\u{a0}';

/// Returns the form of a space that can group digits: after one to three of them, or after another group, and before
/// exactly three.
fn group_space(before: &str, space: char, rest: &str) -> Option<char> {
    let space = match space {
        ' ' => ' ',
        '\u{a0}' | '\u{2009}' | '\u{202f}' => HARD_SPACE,
        _ => return None,
    };
    let group = before.rsplit([' ', HARD_SPACE]).next().unwrap_or_default();
    let mut after = rest.chars().map(|c| ascii_digit(c).is_some());
    let is_group = (1..=3).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit());
    let has_three = after.by_ref().take(3).filter(|is_digit| *is_digit).count() == 3;
    (is_group && has_three && after.next() != Some(true)).then_some(space)
}

fn ascii_digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let of_script = |zero: &char| char::from_digit(u32::from(c).checked_sub(u32::from(*zero))?, 10);
    ZEROS.iter().find_map(of_script)
}

/// Returns the ASCII form of a separator before the digit `next`.
fn ascii_separator(c: char, next: char) -> Option<char> {
    match c {
        '.' | '．' | '\u{66b}' => Some('.'),
        ',' | '\u{66c}' => Some(','),
        // Before other digits it is a comma of the sentence.
        '，' if matches!(next, '０'..='９') => Some(','),
        _ => None,
    }
}

/// Reads a number: the bytes of its digits, these in ASCII, and their value without a sign.
fn quantity(text: &str, number: Range<usize>, digits: &str, value: Option<f64>, before: Option<char>) -> Quantity {
    let Range { start, end } = number;
    let negative = is_negative(&text[..start]);
    let currency = before.filter(|c| is_currency(*c));
    let mut value = value.map(|value| if negative && currency.is_none() { -value } else { value });
    let (mut unit, mut unit_end) = next_word(text, end);
    let of_money: &[(&str, f64)] = if currency.is_some() { SCALES_OF_MONEY } else { &[] };
    if let Some((_, scale)) = SCALES.iter().chain(of_money).find(|(word, _)| *word == unit) {
        value = value.map(|value| value * scale);
        let from = unit_end;
        (unit, unit_end) = next_word(text, from);
        if unit.is_empty() || NOT_UNITS.contains(&&*unit) {
            (unit, unit_end) = (String::new(), from);
        }
    } else if NOT_UNITS.contains(&&*unit) {
        (unit, unit_end) = (String::new(), end);
    }
    let mut bytes = start..unit_end.max(end);
    if let Some(currency) = currency {
        bytes.start -= currency.len_utf8();
        unit = currency.to_string();
    }
    if matches!(&*unit, "percent" | "prozent" | "pourcent") {
        unit = "%".to_owned();
    }
    let is_year = digits.len() == 4 && !digits.contains(['.', ',']) && ("1500".."2200").contains(&digits);
    Quantity { bytes, digits: number, value, unit, is_year: is_year && currency.is_none() && !negative }
}

/// Returns true if a number after this text has a minus sign. After a word or a number it is a hyphen: `5-10 bar`,
/// `PN-16`.
fn is_negative(before: &str) -> bool {
    let Some(before) = before.strip_suffix(['-', '−']) else { return false };
    before.chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{'))
}

/// Returns the unit after `end` in lowercase, and its end.
fn next_word(text: &str, end: usize) -> (String, usize) {
    let rest = &text[end..];
    let gap = rest.len() - rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']).len();
    if gap > 2 {
        return (String::new(), end);
    }
    let rest = &rest[gap..];
    match rest.chars().next() {
        Some(sign) if sign == '%' || sign == '°' || is_currency(sign) => {
            let word = rest[sign.len_utf8()..].chars().next().filter(|c| sign == '°' && c.is_alphabetic());
            let length = sign.len_utf8() + word.map_or(0, char::len_utf8);
            (rest[..length].to_lowercase(), end + gap + length)
        }
        Some(first) if first.is_alphabetic() => {
            let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            // A text without spaces has no words here.
            if length > 40 { (String::new(), end) } else { (rest[..length].to_lowercase(), end + gap + length) }
        }
        _ => (String::new(), end),
    }
}

fn is_currency(sign: char) -> bool {
    matches!(sign, '$' | '€' | '£' | '¥' | '₹' | '₩' | '₽')
}

/// Reads digits with separators. A comma before exactly three digits groups them; a full stop there is ambiguous, and so
/// is a plain space unless the language groups by spaces.
fn value(digits: &str, has_spaces: bool) -> Option<f64> {
    if digits.contains([' ', HARD_SPACE]) {
        let is_ambiguous = (digits.contains(' ') && !has_spaces) || digits.starts_with('0');
        // What follows the groups is a fraction, also of three digits.
        let plain = digits.replace([' ', HARD_SPACE], "").replace(',', ".");
        return if is_ambiguous { None } else { plain.parse().ok() };
    }
    let separators: Vec<(usize, char)> = digits.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    let Some((last, separator)) = separators.last().copied() else { return digits.parse().ok() };
    let decimals = digits.len() - last - 1;
    let several = separators.len() > 1;
    let same = separators.iter().all(|(_, other)| *other == separator);
    let plain = |from: &str| from.chars().filter(char::is_ascii_digit).collect::<String>();
    if (several && same) || (separator == ',' && decimals == 3) {
        let grouped = digits.split(separator).skip(1).all(|group| group.len() == 3);
        return if grouped { plain(digits).parse().ok() } else { None };
    }
    if separator == '.' && decimals == 3 && !several && !digits.starts_with('0') {
        return None;
    }
    format!("{}.{}", plain(&digits[..last]), &digits[last + 1..]).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_units() {
        let read = |text| {
            let list = quantities(text).into_iter();
            list.map(|quantity| (text[quantity.bytes].to_owned(), quantity.value, quantity.unit)).collect::<Vec<_>>()
        };
        let one = |text: &str, value, unit: &str| vec![(text.to_owned(), value, unit.to_owned())];
        assert_eq!(read("It runs at 30 bar."), one("30 bar", Some(30.0), "bar"));
        assert_eq!(read("costs $1,200 now"), one("$1,200 now", Some(1200.0), "$"));
        assert_eq!(read("rose by 3.5 percent"), one("3.5 percent", Some(3.5), "%"));
        assert_eq!(read("3,5 Millionen Euro"), one("3,5 Millionen Euro", Some(3.5e6), "euro"));
        assert_eq!(read("1.234.567 Zeilen"), one("1.234.567 Zeilen", Some(1_234_567.0), "zeilen"));
        assert_eq!(read("about 3.500 and more"), one("3.500", None, ""));
        assert_eq!(read("B2B v2 x_3"), vec![]);
        assert_eq!(read("-4 °C"), one("4 °C", Some(-4.0), "°c"));
        assert_eq!(read("5 lakh people"), one("5 lakh people", Some(5e5), "people"));
        assert_eq!(read("₹2 crore"), one("₹2 crore", Some(2e7), "₹"));
        assert_eq!(read("costs $5K in total"), one("$5K", Some(5e3), "$"));
        assert_eq!(read("costs €1.5bn for all"), one("€1.5bn", Some(1.5e9), "€"));
        assert_eq!(read("£3 m."), one("£3 m", Some(3e6), "£"));
        assert_eq!(read("is 5 m long"), one("5 m", Some(5.0), "m"));
        assert_eq!(read("is $5 more"), one("$5 more", Some(5.0), "$"));
    }

    #[test]
    fn spaces_group_digits_where_the_language_does_so() {
        let read = |text: &str, language| {
            let list = quantities_in(text, language).into_iter();
            list.map(|quantity| (text[quantity.digits].to_owned(), quantity.value)).collect::<Vec<_>>()
        };
        for (language, text, expected) in [
            ("fr", "coûte 2 500 euros", vec![("2 500", Some(2500.0))]),
            ("sv", "kostar 1 012 500,50 kronor", vec![("1 012 500,50", Some(1_012_500.5))]),
            ("ru", "весит 1 200,125 кг", vec![("1 200,125", Some(1200.125))]),
            ("fr", "1 200.5.7 x", vec![("1 200.5.7", None)]),
            ("en", "has 2 500 W motors", vec![("2 500", None)]),
            ("en", "weighs 2\u{202f}500\u{a0}000 g", vec![("2\u{202f}500\u{a0}000", Some(2_500_000.0))]),
            ("fr", "030 123 456", vec![("030 123 456", None)]),
            ("fr", "en 2024 500 vélos", vec![("2024", Some(2024.0)), ("500", Some(500.0))]),
            ("fr", "de 12 5000", vec![("12", Some(12.0)), ("5000", Some(5000.0))]),
            ("fr", "ou 3 50", vec![("3", Some(3.0)), ("50", Some(50.0))]),
            ("fr", "le X200 500 W", vec![("500", Some(500.0))]),
            ("fr", "1,5 000", vec![("1,5", Some(1.5)), ("000", Some(0.0))]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(digits, value)| (digits.to_owned(), value)).collect();
            assert_eq!(read(text, Some(language)), expected, "{text}");
        }
        assert_eq!(read("2 500 euros", None), [("2 500".to_owned(), None)]);
    }

    #[test]
    fn digits_of_other_scripts_are_read() {
        let read = |text: &str| {
            let list = quantities(text).into_iter();
            list.map(|quantity| (text[quantity.digits].to_owned(), quantity.value, quantity.unit)).collect::<Vec<_>>()
        };
        for (text, digits, value, unit) in [
            ("ضغط ٣٠ بار", "٣٠", 30.0, "بار"),
            ("ضغط -٣٫٥ بار", "٣٫٥", -3.5, "بار"),
            ("۱۲ بار", "۱۲", 12.0, "بار"),
            ("दबाव ३.५ बार", "३.५", 3.5, "बार"),
            ("３０ bar", "３０", 30.0, "bar"),
            ("１，２００．５ bar", "１，２００．５", 1200.5, "bar"),
        ] {
            assert_eq!(read(text), [(digits.to_owned(), Some(value), unit.to_owned())], "{text}");
        }
        assert_eq!(quantities("30，40").len(), 2, "a comma between numbers");
        assert!(matches!(&*quantities("سنة ٢٠١٩"), [Quantity { is_year: true, .. }]));
    }

    #[test]
    fn hyphen_between_words_and_numbers_is_no_sign() {
        let values = |text| quantities(text).into_iter().filter_map(|quantity| quantity.value).collect::<Vec<_>>();
        for (text, expected) in [
            ("5-10 bar", vec![5.0, 10.0]),
            ("5–10 bar", vec![5.0, 10.0]),
            ("PN-16, ISO-9001", vec![16.0, 9001.0]),
            ("from -5 to −3", vec![-5.0, -3.0]),
            ("(-5 °C) [-6]\n-7", vec![-5.0, -6.0, -7.0]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
        assert!(quantities("2019-2020").iter().all(|quantity| quantity.is_year));
    }
}
