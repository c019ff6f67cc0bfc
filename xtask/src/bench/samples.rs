//! Durations with exact percentiles.

use std::time::Duration;

/// All durations of one measurement, without buckets or outlier removal.
#[derive(Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the smallest sample that is not exceeded by `percent` of samples (nearest rank); zero without samples.
    pub fn percentile(&self, percent: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or_default()
    }

    pub fn median(&self) -> Duration {
        self.percentile(50.0)
    }

    pub fn max(&self) -> Duration {
        self.percentile(100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Samples;
    use std::time::Duration;

    fn of(milliseconds: impl IntoIterator<Item = u64>) -> Samples {
        Samples(milliseconds.into_iter().map(Duration::from_millis).collect())
    }

    #[test]
    fn percentiles_are_samples() {
        let samples = of((1..=200).rev());
        assert_eq!(samples.percentile(50.0), Duration::from_millis(100));
        assert_eq!(samples.percentile(99.0), Duration::from_millis(198));
        assert_eq!(samples.percentile(0.0), Duration::from_millis(1));
        assert_eq!(samples.max(), Duration::from_millis(200));
    }

    #[test]
    fn percentiles_of_few_samples() {
        assert_eq!(of([7]).percentile(99.0), Duration::from_millis(7));
        assert_eq!(of([3, 1]).median(), Duration::from_millis(1));
        assert_eq!(of([]).max(), Duration::ZERO);
    }
}
