//! Drift of a quantity over a long time.

/// Part of the samples from the beginning that is left out: caches fill.
const WARM_UP: f64 = 0.2;

/// Samples at equal intervals.
#[derive(Default)]
pub struct Drift(Vec<u64>);

impl Drift {
    pub fn push(&mut self, sample: u64) {
        self.0.push(sample);
    }

    /// Returns the medians of the first and of the last quarter after the warm-up; `None` with less than eight samples, which say
    /// nothing.
    pub fn ends(&self) -> Option<(u64, u64)> {
        let warm = &self.0[(self.0.len() as f64 * WARM_UP) as usize..];
        let quarter = warm.len() / 4;
        if quarter < 2 {
            return None;
        }
        Some((median(&warm[..quarter])?, median(&warm[warm.len() - quarter..])?))
    }

    /// Returns the change between them in percent of the first.
    pub fn percent(&self) -> Option<f64> {
        let (first, last) = self.ends()?;
        Some((last as f64 - first as f64) * 100.0 / (first as f64).max(1.0))
    }
}

fn median(samples: &[u64]) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::Drift;

    fn of(samples: impl IntoIterator<Item = u64>) -> Drift {
        Drift(samples.into_iter().collect())
    }

    #[test]
    fn growth_after_the_warm_up_is_a_drift() {
        let flat = of((0..20).map(|at| at * 5).chain((0..80).map(|at| 100 + at % 3)));
        assert!(flat.percent().is_some_and(|drift| drift.abs() < 2.0), "{:?}", flat.percent());
        let leaking = of((0..100).map(|at| 100 + at));
        assert_eq!(leaking.ends(), Some((130, 190)));
        assert!(leaking.percent().is_some_and(|drift| drift > 40.0), "{:?}", leaking.percent());
        let single_peak = of((0..100).map(|at| if at == 95 { 900 } else { 100 }));
        assert_eq!(single_peak.percent(), Some(0.0));
    }

    #[test]
    fn few_samples_say_nothing() {
        assert_eq!(of([1, 2, 3, 4, 5, 6, 7]).percent(), None);
    }
}
