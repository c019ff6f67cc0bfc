//! Mild preference for recent documents if the query asks for them.

use model::Timestamp;

use super::parameters::{RECENCY, RECENCY_HALF_LIFE_DAYS};
use crate::query_matcher::QueryMatcher;

const DAY_MS: f64 = 86_400_000.0;

/// Folded words that ask for recent documents. Ambiguous words such as `new` and `now` are excluded.
const WORDS: [&str; 30] = [
    "actualite",
    "actualites",
    "actuel",
    "actuelle",
    "aktuell",
    "aktuelle",
    "aktuellen",
    "aktuelles",
    "atual",
    "breaking",
    "current",
    "currently",
    "heute",
    "hoy",
    "latest",
    "neueste",
    "neuesten",
    "newest",
    "news",
    "nieuws",
    "noticias",
    "notizie",
    "recent",
    "recente",
    "recently",
    "reciente",
    "today",
    "tonight",
    "upcoming",
    "yesterday",
];

/// Recency boost relative to the time of the query.
pub(super) struct Recency {
    now: Timestamp,
}

impl Recency {
    /// Returns `None` if the query does not ask for recent documents or the time is unknown.
    pub fn of(matcher: &QueryMatcher, now: Option<Timestamp>) -> Option<Self> {
        let now = now?;
        let year = year(now.as_millis());
        let asks = |word: &String| {
            WORDS.binary_search(&word.as_str()).is_ok() || word.parse().is_ok_and(|named: i64| named == year)
        };
        matcher.phrase.iter().any(asks).then_some(Self { now })
    }

    /// Returns the factor for a document's score: 1 for an unknown or very old date, up to `1 + RECENCY`.
    pub fn factor(&self, published_at: Option<Timestamp>) -> f64 {
        let Some(published_at) = published_at else { return 1.0 };
        // A future date is an announcement or a mistake and counts as now.
        let days = self.now.since(published_at).as_millis() as f64 / DAY_MS;
        1.0 + RECENCY * (-days / RECENCY_HALF_LIFE_DAYS).exp2()
    }
}

/// Returns the UTC year of a Unix time in milliseconds, in the proleptic Gregorian calendar (Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
fn year(ms: i64) -> i64 {
    let days = ms.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // The computed year begins in March.
    year_of_era + era * 400 + i64::from(day_of_year >= 306)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_780_000_000_000); // 2026-05-28

    fn recency(query: &str) -> Option<Recency> {
        Recency::of(&QueryMatcher::new(query, &[]), Some(NOW))
    }

    #[test]
    fn only_queries_that_ask_for_it_get_a_recency_boost() {
        assert!(WORDS.is_sorted(), "required by binary search");
        for asks in ["latest rust release", "Aktuelle Preise", "budget 2026", "Actualités Paris"] {
            assert!(recency(asks).is_some(), "{asks}");
        }
        for other in ["how to now cast", "budget 2019", "", "newton"] {
            assert!(recency(other).is_none(), "{other}");
        }
        assert!(Recency::of(&QueryMatcher::new("latest", &[]), None).is_none());
    }

    #[test]
    fn the_boost_is_bounded_and_decays_with_age() {
        let recency = recency("latest").map(|recency| {
            let month = Duration::from_secs(30 * 86_400);
            [
                Some(NOW),
                Some(NOW - month),
                Some(Timestamp::UNIX_EPOCH),
                None,
                Some(Timestamp::MIN),
                Some(Timestamp::MAX),
            ]
            .map(|published_at| recency.factor(published_at))
        });
        let Some([new, month, old, unknown, lowest, highest]) = recency else {
            panic!("the query asks for recent documents")
        };
        assert!(new > month && month > old && old >= 1.0 && new <= 1.0 + RECENCY);
        assert_eq!([unknown, lowest, highest], [1.0, 1.0, 1.0 + RECENCY]);
    }

    #[test]
    fn year_matches_the_calendar() {
        for (ms, expected) in
            [(0, 1970), (-1, 1969), (951_782_400_000, 2000), (1_767_225_599_999, 2025), (1_767_225_600_000, 2026)]
        {
            assert_eq!(year(ms), expected, "{ms}");
        }
    }
}
