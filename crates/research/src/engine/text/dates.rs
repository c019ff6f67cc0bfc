//! Calendar dates in texts, and their display.

use std::ops::Range;

use model::Timestamp;

/// A date in a text.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Date {
    pub year: u16,
    pub month: u8,
    pub day: u8,
}

impl Date {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1000..=9999).contains(&year) && (1..=days).contains(&day)).then_some(Self {
            year: year as u16,
            month: month as u8,
            day: day as u8,
        })
    }

    /// Returns the date as `2024-03-12`.
    pub fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// Names and abbreviations of the months in English, German, French, Spanish, Italian, Portuguese and Dutch, without diacritics, and
/// those in Danish and Swedish that begin like these.
const MONTHS: [(u32, &str); 12] = [
    (1, "january jan januar janner janvier janv enero ene gennaio gen janeiro januari"),
    (2, "february feb februar feber fevrier fevr fev febrero febbraio fevereiro februari"),
    (3, "march mar marz mrz mars marzo marco maart mrt marts"),
    (4, "april apr avril avr abril abr aprile"),
    (5, "may mai mayo maggio mag maio mei"),
    (6, "june jun juni juin junio giugno giu junho"),
    (7, "july jul juli juillet juil julio luglio lug julho"),
    (8, "august aug aout agosto ago augustus augusti"),
    (9, "september sep sept septembre septiembre setiembre set settembre sett setembro"),
    (10, "october oct oktober okt octobre octubre ottobre ott outubro out"),
    (11, "november nov novembre noviembre novembro"),
    (12, "december dec dezember dez decembre diciembre dic dicembre dezembro"),
];

/// Longest name of a month.
const MONTH_BYTES: usize = 12;

/// Returns the full dates of a text in order: `2024-03-12`, `12.3.2024`, `12 March 2024`, `March 12, 2024`. A date such
/// as `3/4/2024` is ambiguous and left out.
pub(crate) fn dates(text: &str) -> Vec<(Range<usize>, Date)> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match date_at(text, &tokens[at..]) {
            Some((length, date)) => {
                found.push((tokens[at].start..tokens[at + length - 1].end, date));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// Returns the words and numbers of a text.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start: Option<(usize, bool)> = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let kind = if c.is_ascii_digit() { Some(true) } else { c.is_alphabetic().then_some(false) };
        if let Some((from, digits)) = start
            && kind != Some(digits)
        {
            tokens.push(from..at);
            start = None;
        }
        if let Some(digits) = kind
            && start.is_none()
        {
            start = Some((at, digits));
        }
    }
    tokens
}

fn date_at(text: &str, tokens: &[Range<usize>]) -> Option<(usize, Date)> {
    let word = |at: usize| tokens.get(at).map(|range| &text[range.clone()]);
    let gap = |at: usize| Some(&text[tokens.get(at)?.end..tokens.get(at + 1)?.start]);
    let number = |at: usize| word(at).filter(|word| word.len() <= 4).and_then(|word| word.parse::<u32>().ok());
    if let (Some(first), Some(second), Some(third)) = (number(0), number(1), number(2)) {
        let (one, two) = (gap(0)?, gap(1)?);
        let whole = word(0)?.len() == 4;
        return match (one, two) {
            ("-", "-") if whole => Some((3, Date::new(first, second, third)?)),
            (".", ".") | (". ", ". ") => Some((3, Date::new(third, second, first)?)),
            ("/", "/") if first > 12 && !whole => Some((3, Date::new(third, second, first)?)),
            ("/", "/") if second > 12 && !whole => Some((3, Date::new(third, first, second)?)),
            _ => None,
        };
    }
    let short = |at: usize| gap(at).is_some_and(|gap| gap.len() <= 2);
    if let (Some(day), Some(month)) = (number(0), word(1).and_then(month)) {
        // `12 de marzo de 2024` is read without its prepositions.
        return Some((3, Date::new(number(2)?, month, day)?)).filter(|_| short(0) && short(1));
    }
    if let (Some(day), Some("de"), Some(month), Some("de")) = (number(0), word(1), word(2).and_then(month), word(3)) {
        return Some((5, Date::new(number(4)?, month, day)?));
    }
    let month = word(0).and_then(month)?;
    let (day, at) = (number(1)?, if matches!(word(2), Some("st" | "nd" | "rd" | "th")) { 3 } else { 2 });
    let before_year = gap(at - 1)?;
    let is_date = short(0) && before_year.len() <= 3 && matches!(before_year.trim_end(), "" | ",");
    Some((at + 1, Date::new(number(at)?, month, day)?)).filter(|_| is_date)
}

fn month(word: &str) -> Option<u32> {
    if word.len() > MONTH_BYTES || word.len() < 3 {
        return None;
    }
    let folded: String = word
        .to_lowercase()
        .chars()
        .map(|c| match c {
            'ä' | 'à' | 'á' => 'a',
            'é' | 'è' => 'e',
            'û' | 'ú' | 'ü' => 'u',
            'ç' => 'c',
            other => other,
        })
        .collect();
    MONTHS.iter().find(|(_, names)| names.split(' ').any(|name| name == folded)).map(|(month, _)| *month)
}

/// Returns the UTC date of a time (Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`). `None`
/// outside the years 1000 to 9999.
pub(crate) fn of(time: Timestamp) -> Option<Date> {
    let days = time.as_millis().div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Date::new(u32::try_from(year).ok()?, u32::try_from(month).ok()?, u32::try_from(day).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_several_notations() {
        for text in [
            "on 2024-03-12.",
            "am 12.3.2024",
            "am 12. März 2024",
            "12 March 2024",
            "March 12, 2024",
            "March 12th, 2024",
            "le 12 mars 2024",
            "el 12 de marzo de 2024",
            "3/12/24, 13/3/2024",
        ] {
            let list: Vec<String> = dates(text).into_iter().map(|(_, date)| date.iso()).collect();
            let expected = if text.contains('/') { "2024-03-13" } else { "2024-03-12" };
            assert_eq!(list, [expected], "{text}");
        }
        for none in [
            "3/4/2024",
            "2024-13-40",
            "30 February 2024",
            "maybe 5 apples 12",
            "v1.2.3456789",
            "Real Decreto 12/2020",
            "Decision 10/2004",
            "Market 10, 2019",
            "Novel 3, 2019",
            "12 marks 2024",
            "Dec 10/2004",
            "March 12. In 2024",
            "March 12. 2024",
        ] {
            assert_eq!(dates(none), [], "{none}");
        }
    }

    #[test]
    fn months_have_names_and_abbreviations() {
        for (month, names) in MONTHS {
            for name in names.split(' ') {
                assert_eq!(super::month(name), Some(month), "{name}");
            }
        }
        for (text, month) in [
            ("1. Jänner 2024", 1),
            ("1 févr. 2024", 2),
            ("1. MÄRZ 2024", 3),
            ("1 de março de 2024", 3),
            ("May 1,2024", 5),
            ("1 juil. 2024", 7),
            ("1 août 2024", 8),
            ("Sept. 1st 2024", 9),
            ("Dec. 1,\u{a0}2024", 12),
        ] {
            let list: Vec<Date> = dates(text).into_iter().map(|(_, date)| date).collect();
            assert_eq!(list, [Date { year: 2024, month, day: 1 }], "{text}");
        }
    }

    #[test]
    fn times_have_dates() {
        assert_eq!(of(Timestamp::from_millis(0)).map(Date::iso).as_deref(), Some("1970-01-01"));
        assert_eq!(of(Timestamp::from_millis(1_780_000_000_000)).map(Date::iso).as_deref(), Some("2026-05-28"));
        assert_eq!(of(Timestamp::MAX), None);
        assert_eq!(of(Timestamp::MIN), None);
    }
}
