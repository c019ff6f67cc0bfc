//! Time of a search by stage, from the server's own log.

use super::samples::Samples;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Settings, for its environment, with which the server tells the stages of each search.
pub const TOLD: [(&str, &str); 2] = [("RETRIEVAL__LOG__FILTER", "warn,app=debug"), ("RETRIEVAL__LOG__FORMAT", "json")];

/// Durations of the stages, of all the searches in a log. Searches of several collections have several first stages.
#[derive(Default)]
pub struct Stages {
    /// The search engine's answer.
    pub first_stage: Samples,
    /// The first stage, and loading its candidates.
    pub retrieved: Samples,
    /// Ranking, passages and snippets, and storing the ranked list.
    pub ranked: Samples,
}

impl Stages {
    /// Reads a log that was written with [`TOLD`].
    ///
    /// # Errors
    ///
    /// When there is no such file.
    pub fn read(log: &Path) -> anyhow::Result<Self> {
        Ok(Self::of(&std::fs::read_to_string(log)?))
    }

    fn of(log: &str) -> Self {
        let mut stages = Self::default();
        for line in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            for (name, samples) in [
                ("asked", &mut stages.first_stage),
                ("retrieved", &mut stages.retrieved),
                ("ranked", &mut stages.ranked),
            ] {
                if let Some(time) = line[name].as_str().and_then(duration) {
                    samples.push(time);
                }
            }
        }
        stages
    }
}

/// Reads what `Debug` writes of a duration: `1.5ms`.
fn duration(text: &str) -> Option<Duration> {
    // The longer endings first: all end in `s`.
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
    fn durations_are_read_as_they_were_written() {
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
        assert_eq!((stages.retrieved.len(), stages.ranked.max()), (1, Duration::from_millis(2)));
    }
}
