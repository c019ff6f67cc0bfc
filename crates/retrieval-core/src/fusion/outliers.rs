//! Documents that are much nearer to the query than chance explains.
//!
//! Agreement with the words cannot tell a good model from a bad one where relevant documents do not have the words of the query. The
//! cosines themselves can: those of unrelated documents end in a tail like that of a normal distribution, and a document far beyond it
//! is one that the model has recognised. Vectors without meaning have none.

/// Fewest documents in a list that has a tail.
const LEAST: usize = 50;
/// Part of the list from which on its documents are taken as unrelated: before it, they may all be relevant.
const UNRELATED: f64 = 0.5;
/// Parts of a list of all documents between which they are taken as unrelated. The last ones are further than chance explains.
const WHOLE: (f64, f64) = (0.3, 0.95);
/// Least standard deviation. Stored vectors are rounded, and copies of one document have equal cosines.
const MIN_DEVIATION: f64 = 0.01;
/// Standard deviations beyond the expected cosine from which a document stands out, and with which it does so fully. The nearest of a
/// thousand random vectors stands out for 3 % of the queries.
const BEYOND: (f64, f64) = (1.0, 2.5);
/// Standard deviations in a list of all documents. The nearest of few random vectors varies more, and their deviation is less certain: that of 50
/// stands out for 3 % of the queries too.
const BEYOND_IN_WHOLE: (f64, f64) = (1.5, 2.0);

/// Tail of the cosines of unrelated documents.
#[derive(Clone, Debug)]
pub struct Tail {
    /// Number of documents that the list has the nearest of.
    documents: f64,
    mean: f64,
    deviation: f64,
    /// Standard deviations from which a document stands out, and with which it does so fully.
    range: (f64, f64),
    /// Distinct cosines of the list, nearest first.
    cosines: Vec<f32>,
    /// Standard deviations by which each of them is beyond the one that is expected at its place, or one behind it is: ten documents
    /// that are somewhat nearer than chance explains are less probable than one.
    beyond: Vec<f64>,
}

impl Tail {
    /// Fits a normal distribution to a list of cosines, nearest first: to two places of its end, or to most places of a list of all
    /// documents, where two are close to each other. `documents` is the number of documents that the list has the nearest of. Copies of
    /// one text have one cosine and count once: many of them are no end of a tail. `None` if the list is too short.
    pub fn of(mut cosines: Vec<f32>, documents: u64) -> Option<Self> {
        let listed = cosines.len();
        cosines.dedup();
        if cosines.len() < LEAST {
            return None;
        }
        let documents = documents.saturating_sub((listed - cosines.len()) as u64);
        let is_all = documents <= cosines.len() as u64;
        let place = |part: f64| (part * cosines.len() as f64) as usize;
        let documents = documents.max(cosines.len() as u64) as f64;
        let (places, range): (Vec<usize>, _) = if is_all {
            ((place(WHOLE.0)..place(WHOLE.1)).collect(), BEYOND_IN_WHOLE)
        } else {
            (vec![place(UNRELATED), cosines.len() - 1], BEYOND)
        };
        let points: Vec<(f64, f64)> =
            places.into_iter().map(|place| (expected(place, documents), f64::from(cosines[place]))).collect();
        let (mean, deviation) = fit(&points);
        let mut tail = Self { documents, mean, deviation, range, beyond: Vec::new(), cosines };
        let places = tail.cosines.iter().enumerate();
        tail.beyond = places.map(|(place, cosine)| tail.beyond_place(place, *cosine)).collect();
        for place in (1..tail.beyond.len()).rev() {
            tail.beyond[place - 1] = tail.beyond[place - 1].max(tail.beyond[place]);
        }
        Some(tail)
    }

    /// Returns how far the cosine of a document is beyond the tail, from 0 within it to 1. `length` is its number of passages,
    /// relative to that of the others: the nearest of many passages is near by chance.
    pub fn excess(&self, cosine: f32, length: f64) -> f64 {
        let place = self.cosines.partition_point(|listed| *listed > cosine);
        let behind = self.beyond.get(place).copied().unwrap_or(f64::NEG_INFINITY);
        let by_length = expected(0, self.documents * length.max(1.0)) - expected(0, self.documents);
        let beyond = self.beyond_place(place, cosine).max(behind) - by_length;
        let (from, full) = self.range;
        ((beyond - from) / (full - from)).clamp(0.0, 1.0)
    }

    fn beyond_place(&self, place: usize, cosine: f32) -> f64 {
        (f64::from(cosine) - self.mean) / self.deviation - expected(place, self.documents)
    }
}

/// Returns the mean and the standard deviation of the normal distribution that is nearest to pairs of a standard score and a value, by
/// least squares.
fn fit(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len().max(1) as f64;
    let score = points.iter().map(|(score, _)| score).sum::<f64>() / count;
    let value = points.iter().map(|(_, value)| value).sum::<f64>() / count;
    let covariance: f64 = points.iter().map(|(at, of)| (at - score) * (of - value)).sum();
    let variance: f64 = points.iter().map(|(at, _)| (at - score).powi(2)).sum();
    let deviation = (covariance / variance).max(MIN_DEVIATION);
    (value - deviation * score, deviation)
}

/// Returns the standard score that is expected at a place, from 0, among the given number of values (Tukey's plotting positions).
pub(super) fn expected(place: usize, values: f64) -> f64 {
    standard_score((place as f64 + 2.0 / 3.0) / (values + 1.0 / 3.0))
}

/// Returns the standard score that is exceeded with a probability: formula 26.2.23 of Abramowitz and Stegun, "Handbook of Mathematical
/// Functions" (1964). The error is below 0.00045.
fn standard_score(probability: f64) -> f64 {
    let tail = probability.min(1.0 - probability).max(f64::MIN_POSITIVE);
    let t = (-2.0 * tail.ln()).sqrt();
    let above =
        t - (2.515_517 + t * (0.802_853 + t * 0.010_328)) / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    if probability <= 0.5 { above } else { -above }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cosines of unrelated documents as they are expected, nearest first.
    fn unrelated(listed: usize, documents: u64) -> Vec<f32> {
        (0..listed).map(|place| (0.2 + 0.05 * expected(place, documents as f64)) as f32).collect()
    }

    #[test]
    fn standard_scores_are_those_of_tables() {
        for (probability, score) in
            [(0.5, 0.0), (0.158_655, 1.0), (0.05, 1.644_85), (0.001, 3.090_23), (0.95, -1.644_85)]
        {
            assert!((standard_score(probability) - score).abs() < 0.000_45, "{probability}");
        }
    }

    #[test]
    fn only_cosines_beyond_the_tail_stand_out() {
        for (listed, documents) in [(50, 50), (100, 101), (100, 1_400), (100, 100_000_000)] {
            let cosines = unrelated(listed, documents);
            let tail = Tail::of(cosines.clone(), documents).expect("a tail");
            assert!((tail.deviation - 0.05).abs() < 1e-3 && (tail.mean - 0.2).abs() < 5e-3, "{tail:?}");
            let nearest = cosines[0];
            let excess = [-0.1, 0.0, 0.045, 0.0875, 0.13, 0.5].map(|more| tail.excess(nearest + more, 1.0));
            assert_eq!(
                (excess[0], excess[1], excess[2], excess[4], excess[5]),
                (0.0, 0.0, 0.0, 1.0, 1.0),
                "{documents}"
            );
            assert!((0.4..0.6).contains(&excess[3]), "{excess:?}");
        }
    }

    #[test]
    fn the_nearest_of_few_random_vectors_hardly_stands_out() {
        let mut state = 7_u64;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as f64 + 0.5) / (1_u64 << 31) as f64
        };
        for documents in [50, 60, 80, 99] {
            let samples = 2_000_u16;
            let stand_out = (0..samples).filter(|_| {
                let mut cosines: Vec<f32> =
                    (0..documents).map(|_| (0.2 + 0.05 * standard_score(unit())) as f32).collect();
                cosines.sort_unstable_by(|one, other| other.total_cmp(one));
                let nearest = cosines[0];
                // Rounded cosines may be equal.
                let tail = Tail::of(cosines, documents);
                tail.is_some_and(|tail| tail.excess(nearest, 1.0) > 0.0)
            });
            let share = stand_out.count() as f64 / f64::from(samples);
            assert!(share < 0.04, "{documents}: {share}");
        }
    }

    #[test]
    fn long_documents_are_near_by_chance() {
        let tail = Tail::of(unrelated(100, 1_000), 1_000).expect("a tail");
        let nearest_of = |passages: usize| (0.2 + 0.05 * expected(0, 1_000.0 * passages as f64)) as f32;
        for passages in [1, 100, 10_000] {
            let nearest = nearest_of(passages);
            assert_eq!(tail.excess(nearest, passages as f64), 0.0, "{passages}");
            assert!(tail.excess(nearest + 0.13, passages as f64) > 0.9, "{passages}");
        }
        assert!(tail.excess(nearest_of(10_000), 1.0) > 0.3);
    }

    #[test]
    fn related_documents_before_the_tail_do_not_hide_each_other() {
        let mut cosines = unrelated(100, 1_400);
        cosines.splice(0..0, [0.8; 40]);
        cosines.truncate(100);
        let tail = Tail::of(cosines.clone(), 1_400).expect("a tail");
        assert_eq!(tail.excess(0.8, 1.0), 1.0);
        assert_eq!(tail.excess(cosines[40], 1.0), 0.0);
    }

    #[test]
    fn documents_that_are_somewhat_nearer_stand_out_together() {
        let excess = |related: u8| {
            let mut cosines = unrelated(100, 1_400);
            let from = cosines[0] + 0.045;
            cosines.splice(0..0, (0..related).map(|place| from - f32::from(place) * 1e-4));
            cosines.truncate(100);
            let tail = Tail::of(cosines.clone(), 1_400).expect("a tail");
            [0, usize::from(related) - 1, usize::from(related)].map(|place| tail.excess(cosines[place], 1.0))
        };
        assert_eq!(excess(1), [0.0; 3]);
        let [first, last, next] = excess(10);
        assert!(first > 0.2 && first == last && next == 0.0, "{first} {last} {next}");
    }

    #[test]
    fn copies_of_one_text_are_no_tail() {
        let distinct = unrelated(100, 1_000);
        for copies in [2, 100, 1_000] {
            let mut cosines = distinct.clone();
            cosines.splice(60..60, vec![distinct[60]; copies]);
            let (all, of_all) =
                (Tail::of(distinct.clone(), 1_000).expect("a tail"), Tail::of(cosines.clone(), 1_000 + copies as u64));
            assert_eq!(of_all.expect("a tail").excess(0.4, 1.0), all.excess(0.4, 1.0), "{copies}");
            // The list ends within the copies.
            cosines.truncate(100);
            let tail = Tail::of(cosines.clone(), 1_000);
            assert!(tail.as_ref().is_none_or(|tail| tail.excess(distinct[0], 1.0) == 0.0), "{copies}: {tail:?}");
        }
        assert!(Tail::of(vec![0.5; 100], 5_000).is_none());
    }

    #[test]
    fn short_lists_and_equal_cosines_say_little() {
        assert!(Tail::of(unrelated(49, 5_000), 5_000).is_none());
        let close: Vec<f32> = (0..100_u8).map(|place| 0.5 - f32::from(place) * 1e-6).collect();
        let tail = Tail::of(close.clone(), 5_000).expect("a tail");
        assert_eq!(tail.excess(0.5, 1.0), 0.0);
        assert_eq!(tail.excess(0.505, 1.0), 0.0, "the error of rounded vectors");
        let spread = |from: f32, step: f32| (0..60_u8).map(|place| from - f32::from(place) * step).collect::<Vec<_>>();
        for cosines in [spread(f32::MAX, 1e36), spread(0.0, 1e-30), spread(-1.0, 0.01)] {
            for documents in [0, 60, u64::MAX] {
                let tail = Tail::of(cosines.clone(), documents).expect("a tail");
                assert!((0.0..=1.0).contains(&tail.excess(cosines[0], 1e9)), "{cosines:?}");
            }
        }
    }
}
