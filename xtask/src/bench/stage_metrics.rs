//! Time of searches by stage, from the histograms of the servers.

use super::client::Client;
use std::collections::BTreeMap;

const STAGE: &str = "retrieval_search_stage_duration_seconds_sum{stage=\"";
const WAIT: &str = "retrieval_admission_wait_seconds_sum{work=\"search\"";

/// Seconds that all searches have spent in each stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageTimes(BTreeMap<String, f64>);

impl StageTimes {
    /// Adds up the times of servers.
    ///
    /// # Errors
    ///
    /// Returns an error if a server does not answer.
    pub fn read(operations: &[Client]) -> anyhow::Result<Self> {
        let mut times = Self::default();
        for client in operations {
            times.add(&String::from_utf8_lossy(&client.get("/metrics")?));
        }
        Ok(times)
    }

    fn add(&mut self, metrics: &str) {
        for line in metrics.lines() {
            let Some((series, value)) = line.rsplit_once(' ') else { continue };
            let stage = match series.strip_prefix(STAGE) {
                Some(labels) => labels.split('"').next().unwrap_or_default(),
                None if series.starts_with(WAIT) => "waiting for a turn",
                None => continue,
            };
            *self.0.entry(stage.to_owned()).or_default() += value.parse::<f64>().unwrap_or(0.0);
        }
    }

    /// Returns the milliseconds of each stage a search, since an earlier reading. Stages that none has entered are left out.
    pub fn since(&self, before: &Self, searches: usize) -> Vec<(String, f64)> {
        let spent = self.0.iter().map(|(stage, time)| (stage, time - before.0.get(stage).copied().unwrap_or(0.0)));
        spent
            .filter(|(_, time)| *time > 0.0)
            .map(|(stage, time)| (stage.clone(), time * 1e3 / searches.max(1) as f64))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::StageTimes;

    #[test]
    fn times_of_servers_are_added_up() {
        let mut before = StageTimes::default();
        before.add("retrieval_search_stage_duration_seconds_sum{stage=\"rank\"} 1\n");
        let mut after = before.clone();
        for _ in 0..2 {
            after.add(
                "# HELP x\nretrieval_search_stage_duration_seconds_sum{stage=\"rank\"} 0.5\n\
                 retrieval_search_stage_duration_seconds_count{stage=\"rank\"} 7\n\
                 retrieval_search_stage_duration_seconds_sum{stage=\"rerank\"} 0\n\
                 retrieval_admission_wait_seconds_sum{work=\"search\"} 0.25\n\
                 retrieval_admission_wait_seconds_sum{work=\"read\"} 9\n",
            );
        }
        let expected = [("rank".to_owned(), 100.0), ("waiting for a turn".to_owned(), 50.0)];
        assert_eq!(after.since(&before, 10), expected);
    }
}
