//! Bounds on what a site can generate without end.

use crate::address::Address;

/// Longer URLs are not followed.
const MAX_URL: usize = 2_048;
/// Deeper paths are not followed.
const MAX_SEGMENTS: usize = 24;
/// Occurrences of one segment in a path.
const MAX_REPETITIONS: usize = 3;
/// Links in a row between pages of one shape: a calendar that leads to the next month, a list that leads to its next page.
const MAX_CHAIN: i32 = 1_000;
/// Years of calendars that exist.
const YEARS: std::ops::RangeInclusive<u32> = 1970..=2040;

/// Reason that a link is not followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trap {
    UrlTooLong,
    PathTooDeep,
    PathRepetition,
    Calendar,
    EndlessChain,
}

impl Trap {
    pub fn as_str(self) -> &'static str {
        match self {
            Trap::UrlTooLong => "url_too_long",
            Trap::PathTooDeep => "path_too_deep",
            Trap::PathRepetition => "path_repetition",
            Trap::Calendar => "calendar",
            Trap::EndlessChain => "endless_chain",
        }
    }
}

/// Returns the trap that a URL belongs to. `chain` counts the links between pages of its shape that lead there.
pub fn find(address: &Address, chain: i32) -> Option<Trap> {
    let segments: Vec<&str> = address.path().split('/').filter(|segment| !segment.is_empty()).collect();
    let too_long = find_listed(address);
    if too_long.is_some() {
        too_long
    } else if segments.len() > MAX_SEGMENTS {
        Some(Trap::PathTooDeep)
    } else if repeats(&segments) {
        Some(Trap::PathRepetition)
    } else if is_impossible_date(address, &segments) {
        Some(Trap::Calendar)
    } else if chain > MAX_CHAIN {
        Some(Trap::EndlessChain)
    } else {
        None
    }
}

/// Returns the trap that a URL of a sitemap belongs to: the site vouches for all but its length.
pub fn find_listed(address: &Address) -> Option<Trap> {
    (address.url.len() > MAX_URL).then_some(Trap::UrlTooLong)
}

/// Returns true if a segment occurs again and again, as relative links below a wrong base make it.
fn repeats(segments: &[&str]) -> bool {
    segments.iter().any(|segment| {
        // Numbers repeat in dates and ids.
        !segment.bytes().all(|byte| byte.is_ascii_digit())
            && segments.iter().filter(|other| other == &segment).count() > MAX_REPETITIONS
    })
}

/// Returns true if the URL names a month of a year in which nothing happens.
fn is_impossible_date(address: &Address, segments: &[&str]) -> bool {
    // Ids of four digits are followed by the number of a page, mostly of one digit.
    let is_month_of = |year: &str, month: &str| month.len() == 2 && is_outside(year, month);
    let in_path = segments.windows(2).any(|pair| is_month_of(pair[0], pair[1]))
        || segments
            .iter()
            .any(|segment| segment.split_once('-').is_some_and(|(year, rest)| is_month_of(year, two(rest))));
    let parameters =
        || address.query().into_iter().flat_map(|query| query.split('&')).filter_map(|part| part.split_once('='));
    let value = |names: &[&str]| {
        parameters()
            .find(|(name, _)| names.iter().any(|known| name.eq_ignore_ascii_case(known)))
            .map(|(_, value)| value)
    };
    let by_name =
        value(&["year", "y"]).zip(value(&["month", "m"])).is_some_and(|(year, month)| is_outside(year, month));
    let as_date =
        parameters().any(|(_, value)| value.split_once('-').is_some_and(|(year, rest)| is_outside(year, two(rest))));
    in_path || by_name || as_date
}

fn two(text: &str) -> &str {
    text.split('-').next().unwrap_or_default()
}

fn is_outside(year: &str, month: &str) -> bool {
    let number = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        (lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<u32>().ok())
            .flatten()
    };
    let Some((year, month)) = number(year, 4..=4).zip(number(month, 1..=2)) else { return false };
    (1..=12).contains(&month) && !YEARS.contains(&year) && year >= 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trap(path: &str) -> Option<Trap> {
        find(&Address::parse(&format!("http://h.example{path}")).expect("a URL"), 0)
    }

    #[test]
    fn traps_are_recognized() {
        for (path, expected) in [
            ("/a/b/c", None),
            ("/a/a/a", None),
            ("/a/a/a/a", Some(Trap::PathRepetition)),
            ("/a/b/a/b/a/b/a/b", Some(Trap::PathRepetition)),
            ("/2024/2024/2024/2024", None),
            ("/calendar/2024/05", None),
            ("/calendar/2124/05", Some(Trap::Calendar)),
            ("/calendar/1024/05/12", Some(Trap::Calendar)),
            ("/thread/5678/2", None),
            ("/t/slug/1234/5", None),
            ("/news/1234-5-questions", None),
            ("/calendar/2124-05-01", Some(Trap::Calendar)),
            ("/calendar?year=2124&month=5", Some(Trap::Calendar)),
            ("/calendar?date=2124-05", Some(Trap::Calendar)),
            ("/item/2124/77", None),
            ("/part-2124-05", None),
        ] {
            assert_eq!(trap(path), expected, "{path}");
        }
        assert_eq!(trap(&format!("/{}", "x".repeat(3_000))), Some(Trap::UrlTooLong));
        let deep: String = (0..30).map(|n| format!("/s{n}")).collect();
        assert_eq!(trap(&deep), Some(Trap::PathTooDeep));
        let address = Address::parse("http://h.example/next?page=1").expect("a URL");
        assert_eq!(find(&address, MAX_CHAIN), None);
        assert_eq!(find(&address, MAX_CHAIN + 1), Some(Trap::EndlessChain));
    }

    #[test]
    fn urls_of_sitemaps_are_bounded_in_length_only() {
        let listed = |path: &str| find_listed(&Address::parse(&format!("http://h.example{path}")).expect("a URL"));
        assert_eq!(listed("/1912/04/16/titanic"), None);
        assert_eq!(listed("/a/a/a/a"), None);
        assert_eq!(listed(&format!("/{}", "x".repeat(3_000))), Some(Trap::UrlTooLong));
    }
}
