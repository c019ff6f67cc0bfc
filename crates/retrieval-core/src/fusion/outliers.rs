//! Documents that are much nearer to the query than chance explains.
//!
//! Agreement with the words cannot tell a good model from a bad one where relevant documents do not have the words of the query. The
//! cosines themselves can: those of unrelated documents end in a tail like that of a normal distribution, and a document far beyond it
//! is one that the model has recognised. Vectors without meaning have none.

/// Fewest documents in a list that has a tail.
const LEAST: usize = 50;
/// Part of the list from which on its documents are taken as unrelated: before it, they may all be relevant.
const UNRELATED: f64 = 0.5;
/// End of the tail in a list of all documents, whose last ones are further than chance explains.
const END: f64 = 0.8;
/// Least standard deviation. Stored vectors are rounded, and copies of one document have equal cosines.
const MIN_DEVIATION: f64 = 0.01;
/// Standard deviations beyond the expected cosine from which a document stands out. The nearest of a thousand random
/// vectors does for 3 % of the queries.
const FROM: f64 = 1.0;
/// Standard deviations with which it stands out fully.
const FULL: f64 = 2.5;

/// Tail of the cosines of unrelated documents.
#[derive(Clone, Debug)]
pub struct Tail {
    /// Number of documents that the list has the nearest of.
    documents: f64,
    mean: f64,
    deviation: f64,
    /// Distinct cosines of the list, nearest first.
    cosines: Vec<f32>,
    /// Standard deviations by which each of them is beyond the one that is expected at its place, or one behind it is: ten documents
    /// that are somewhat nearer than chance explains are less probable than one.
    beyond: Vec<f64>,
}

impl Tail {
    /// Fits a normal distribution to two places of a list of cosines, nearest first. `documents` is the number of documents that the
    /// list has the nearest of. Copies of one text have one cosine and count once: many of them are no end of a tail. `None` if the list
    /// is too short.
    pub fn of(mut cosines: Vec<f32>, documents: u64) -> Option<Self> {
        let listed = cosines.len();
        cosines.dedup();
        if cosines.len() < LEAST {
            return None;
        }
        let documents = documents.saturating_sub((listed - cosines.len()) as u64);
        let is_all = documents <= cosines.len() as u64;
        let place = |part: f64| (part * cosines.len() as f64) as usize;
        let (first, last) = (place(UNRELATED), if is_all { place(END) } else { cosines.len() - 1 });
        let documents = documents.max(cosines.len() as u64) as f64;
        let (at_first, at_last) = (expected(first, documents), expected(last, documents));
        let [first, last] = [first, last].map(|place| f64::from(cosines[place]));
        let deviation = ((first - last) / (at_first - at_last)).max(MIN_DEVIATION);
        let mut tail = Self { documents, mean: last - deviation * at_last, deviation, beyond: Vec::new(), cosines };
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
        ((beyond - FROM) / (FULL - FROM)).clamp(0.0, 1.0)
    }

    fn beyond_place(&self, place: usize, cosine: f32) -> f64 {
        (f64::from(cosine) - self.mean) / self.deviation - expected(place, self.documents)
    }
}

/// Returns the standard score that is expected at a place, from 0, among the given number of values (Tukey's plotting positions).
fn expected(place: usize, values: f64) -> f64 {
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
