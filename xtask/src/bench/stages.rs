//! Stages of a search, from the server's log.

use super::samples::Samples;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Environment settings with which the server logs the stages of each search.
pub const STAGE_LOG: [(&str, &str); 2] =
    [("RETRIEVAL__LOG__FILTER", "warn,app=debug"), ("RETRIEVAL__LOG__FORMAT", "json")];

/// Durations of the stages of all searches in a log. A search of several collections has several first stages.
#[derive(Default)]
pub struct Stages {
    /// Response of the search engine.
    pub first_stage: Samples,
    /// First stage, and loading of its candidates.
    pub retrieval: Samples,
    /// Ranking, passages and snippets, and storing the result list.
    pub ranking: Samples,
}

impl Stages {
    /// Parses a log that was written with [`STAGE_LOG`].
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn read(log: &Path) -> anyhow::Result<Self> {
        Ok(Self::of(&std::fs::read_to_string(log)?))
    }

    fn of(log: &str) -> Self {
        let mut stages = Self::default();
        for line in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            for (name, samples) in [
                ("asked", &mut stages.first_stage),
                ("retrieved", &mut stages.retrieval),
                ("ranked", &mut stages.ranking),
            ] {
                if let Some(time) = line[name].as_str().and_then(duration) {
                    samples.push(time);
                }
            }
        }
        stages
    }
}

/// Parses the `Debug` form of a duration, such as `1.5ms`.
fn duration(text: &str) -> Option<Duration> {
    // Longer units first: all end in `s`.
    let (number, unit) = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]
        .into_iter()
        .find_map(|(ending, unit)| Some((text.strip_suffix(ending)?, unit)))?;
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()
}

#[cfg(test)]
mod tests {
    use super::{Stages, duration};
    use std::time::Duration;

    #[test]
    fn durations_are_parsed() {
        for nanoseconds in [0, 7, 1_500, 999_999, 1_000_000, 2_345_678, 3_000_000_000] {
            let written = Duration::from_nanos(nanoseconds);
            let error = duration(&format!("{written:?}")).unwrap_or(Duration::MAX).abs_diff(written);
            assert!(error <= Duration::from_nanos(1), "{written:?}");
        }
        assert_eq!(duration("soon"), None);
    }

    #[test]
    fn stages_are_collected_among_other_lines() {
        let log = "plain text\n{\"message\":\"first stage\",\"asked\":\"250µs\"}\n\
                   {\"message\":\"searched\",\"retrieved\":\"1.5ms\",\"ranked\":\"2ms\"}\n{\"message\":\"other\"}\n";
        let stages = Stages::of(log);
        assert_eq!(stages.first_stage.median(), Duration::from_micros(250));
        assert_eq!((stages.retrieval.len(), stages.ranking.max()), (1, Duration::from_millis(2)));
    }
}
