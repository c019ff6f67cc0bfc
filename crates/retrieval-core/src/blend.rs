//! Combination of several ranked lists into one.

use std::collections::BTreeMap;

/// Constant of reciprocal rank fusion. Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
/// individual Rank Learning Methods", SIGIR 2009, found 60 to be near the optimum on all their collections.
pub const FUSION_CONSTANT: f64 = 60.0;

/// Merges two lists whose scores are not comparable (web and workspace) by round robin, starting with `first`, up to
/// `limit` items.
///
/// Every prefix of the result contains at least half its items (rounded down) from each list while that list lasts;
/// then the other fills the rest. The order within a list is kept.
pub fn interleave<T>(first: Vec<T>, second: Vec<T>, limit: usize) -> Vec<T> {
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut blended = Vec::with_capacity(limit.min(first.len() + second.len()));
    while blended.len() < limit {
        let before = blended.len();
        blended.extend(first.next());
        if blended.len() < limit {
            blended.extend(second.next());
        }
        if blended.len() == before {
            break;
        }
    }
    blended
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

    #[test]
    fn lists_alternate_until_one_ends() {
        assert_eq!(interleave(vec![1, 2, 3, 4], vec![10, 20], 10), [1, 10, 2, 20, 3, 4]);
        assert_eq!(interleave(vec![1, 2, 3], vec![10, 20], 3), [1, 10, 2]);
        assert_eq!(interleave(vec![], vec![10, 20], 1), [10]);
        assert!(interleave::<u8>(vec![], vec![], 5).is_empty());
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
        fn neither_list_starves(first in 0usize..20, second in 0usize..20, limit in 0usize..30) {
            let blended = interleave(vec![1; first], vec![2; second], limit);
            prop_assert_eq!(blended.len(), limit.min(first + second));
            for end in 0..=blended.len() {
                let ones = blended[..end].iter().filter(|item| **item == 1).count();
                prop_assert!(ones >= first.min(end / 2) && end - ones >= second.min(end / 2));
            }
        }
    }
}
