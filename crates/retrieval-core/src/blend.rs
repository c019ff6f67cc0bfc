//! Combination of several ranked lists into one.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Constant of reciprocal rank fusion. Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
/// individual Rank Learning Methods", SIGIR 2009, found 60 to be near the optimum on all their collections.
pub const FUSION_CONSTANT: f64 = 60.0;

/// Lowest score of a relevant item, relative to the best item of both lists. [`LEAST_SHARE`] of the places is for these.
const RELEVANT: f64 = 0.4;
/// Lowest score of an item that is shown for its list alone. Less is a common word by chance.
const EVIDENCE: f64 = 0.02;
/// Guaranteed places of a list with relevant items, as a divisor.
const LEAST_SHARE: usize = 3;

/// Merges two lists into the best `limit` items, by descending score. Each list is sorted that way already.
///
/// The scores must be on one scale. BM25 scores are if both lists are scored with the statistics of both collections, as
/// one collection would be (Viles and French, "Dissemination of Collection Wide Information in a Distributed Information
/// Retrieval System", SIGIR 1995).
///
/// The best items win, but neither list starves. A list has at least a third of the places for relevant items, with 0.4
/// of the best score, and one of several places for any item with 0.02 of it. Equal scores take turns, `first` first.
/// ADR 0008 has the measurements.
pub fn by_score<T>(first: Vec<T>, second: Vec<T>, limit: usize, score: impl Fn(&T) -> f64) -> Vec<T> {
    let limit = limit.min(first.len() + second.len());
    let best = first.first().into_iter().chain(second.first()).map(&score).fold(0.0, f64::max);
    let guaranteed = |list: &[T]| {
        let count =
            |places: usize, least: f64| list.iter().take(places).take_while(|item| score(item) >= least * best).count();
        count(limit / LEAST_SHARE, RELEVANT).max(count(usize::from(limit > 1), EVIDENCE))
    };
    let (least, most) = (guaranteed(&first), limit - guaranteed(&second));

    let merged = merge(first, second, &score);
    let places = merged.iter().take(limit).filter(|(is_first, _)| *is_first).count().max(least).min(most);
    let mut left = [limit - places, places];
    let blended = merged.into_iter().filter_map(|(is_first, item)| {
        let left = &mut left[usize::from(is_first)];
        *left = left.checked_sub(1)?;
        Some(item)
    });
    blended.collect()
}

/// Merges two sorted lists. Returns each item with true if it is of the first list.
fn merge<T>(first: Vec<T>, second: Vec<T>, score: impl Fn(&T) -> f64) -> Vec<(bool, T)> {
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    let mut is_turn_of_first = true;
    loop {
        let is_first = match (first.peek(), second.peek()) {
            (Some(one), Some(other)) => match score(one).total_cmp(&score(other)) {
                Ordering::Greater => true,
                Ordering::Less => false,
                Ordering::Equal => is_turn_of_first,
            },
            (one, _) => one.is_some(),
        };
        let Some(item) = (if is_first { first.next() } else { second.next() }) else { return merged };
        is_turn_of_first = !is_first;
        merged.push((is_first, item));
    }
}

/// Merges several rankings of one collection (one per rewrite of a query) by reciprocal rank fusion.
///
/// The score of an item is the sum of `1 / (FUSION_CONSTANT + rank)` over the lists that contain it, with ranks from 1
/// and each list counted once, at the best rank. Sorted by descending score, then by the best rank in any list, then by
/// item.
pub fn fuse<T: Ord + Clone>(lists: &[Vec<T>]) -> Vec<(T, f64)> {
    let mut fused: BTreeMap<&T, (f64, usize, usize)> = BTreeMap::new();
    for (list, items) in lists.iter().enumerate() {
        for (index, item) in items.iter().enumerate() {
            let rank = index + 1;
            let entry = fused.entry(item).or_insert((0.0, rank, usize::MAX));
            if entry.2 != list {
                *entry = (entry.0 + 1.0 / (FUSION_CONSTANT + rank as f64), entry.1.min(rank), list);
            }
        }
    }
    let mut ranked: Vec<(&T, (f64, usize, usize))> = fused.into_iter().collect();
    ranked.sort_by(|(one, a), (other, b)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(one.cmp(other)));
    ranked.into_iter().map(|(item, (score, ..))| (item.clone(), score)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blend(first: &[f64], second: &[f64], limit: usize) -> Vec<(char, f64)> {
        let list = |name, scores: &[f64]| scores.iter().map(|score| (name, *score)).collect();
        by_score(list('a', first), list('b', second), limit, |item| item.1)
    }

    fn names(blended: &[(char, f64)]) -> String {
        blended.iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn the_best_scores_of_both_lists_win() {
        let (first, second) = ([0.9, 0.5, 0.1], [1.2, 0.8, 0.4]);
        assert_eq!(names(&blend(&first, &second, 6)), "bababa");
        assert_eq!(blend(&first, &second, 1), [('b', 1.2)]);
        assert_eq!(blend(&second, &first, 1), [('a', 1.2)]);
        assert_eq!(blend(&[], &second, 2), [('b', 1.2), ('b', 0.8)]);
        assert_eq!(blend(&[], &[], 5), []);
        assert_eq!(blend(&first, &second, 0), []);
    }

    #[test]
    fn equal_scores_take_turns() {
        assert_eq!(names(&blend(&[1.0; 3], &[1.0; 2], 5)), "ababa");
        assert_eq!(names(&blend(&[0.0; 2], &[0.0; 4], 4)), "abab");
    }

    #[test]
    fn a_relevant_list_keeps_a_third_of_the_places() {
        let (strong, weak) = ([9.0; 20], [4.0; 20]);
        assert_eq!(names(&blend(&strong, &weak, 10)), "aaaaaaabbb");
        assert_eq!(names(&blend(&weak, &strong, 8)), "bbbbbbaa");
        assert_eq!(names(&blend(&strong, &weak[..1], 10)), "aaaaaaaaab");
        assert_eq!(names(&blend(&strong, &weak, 2)), "ab");
        assert_eq!(names(&blend(&strong, &weak, 1)), "a");
        assert_eq!(names(&blend(&strong[..4], &weak, 10)), "aaaabbbbbb", "places that are left");
    }

    #[test]
    fn a_list_of_weak_matches_keeps_one_place() {
        let (strong, weak) = ([9.0; 20], [1.0; 20]);
        assert_eq!(names(&blend(&strong, &weak, 10)), "aaaaaaaaab");
        assert_eq!(names(&blend(&weak, &strong, 2)), "ba");
        assert_eq!(names(&blend(&strong, &[0.1; 20], 10)), "aaaaaaaaaa", "hardly a match");
    }

    #[test]
    fn items_in_several_lists_rank_first() {
        let fused = fuse(&[vec!["a", "b", "c"], vec!["b", "d", "b"]]);
        let order: Vec<&str> = fused.iter().map(|(item, _)| *item).collect();
        assert_eq!(order, ["b", "a", "d", "c"]);
        assert!((fused[0].1 - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-12, "{}", fused[0].1);
        assert!(fuse::<u8>(&[]).is_empty());
        assert_eq!(fuse(&[vec![2], vec![1]]).iter().map(|(item, _)| *item).collect::<Vec<_>>(), [1, 2]);
    }

    proptest! {
        #[test]
        fn scores_fall_and_neither_list_starves(
            mut first in prop::collection::vec(0u8..60, 0..20),
            mut second in prop::collection::vec(0u8..60, 0..20),
            limit in 0usize..30,
        ) {
            let sort = |list: &mut Vec<u8>| {
                list.sort_unstable_by(|one, other| other.cmp(one));
                list.iter().map(|score| f64::from(*score)).collect::<Vec<f64>>()
            };
            let (first, second) = (sort(&mut first), sort(&mut second));
            let blended = blend(&first, &second, limit);
            prop_assert_eq!(blended.len(), limit.min(first.len() + second.len()));
            prop_assert!(blended.is_sorted_by(|one, other| one.1 >= other.1));
            let best = blended.first().map_or(0.0, |item| item.1);
            for (name, list) in [('a', &first), ('b', &second)] {
                let shown: Vec<f64> = blended.iter().filter(|item| item.0 == name).map(|item| item.1).collect();
                prop_assert_eq!(&shown[..], &list[..shown.len()], "the best of each list, in its order");
                let of = |least: f64| list.iter().filter(|score| **score >= least * best).count();
                prop_assert!(shown.len() >= of(RELEVANT).min(blended.len() / LEAST_SHARE));
                prop_assert!(shown.len() >= of(EVIDENCE).min(usize::from(blended.len() > 1)));
            }
        }
    }
}
