//! Estimates of numbers of documents, for engines that do not count matches.

/// Estimates the number of documents in any of several sets of `documents`, given their sizes, as if they were
/// independent. Exact for one set; 0 only if all are empty.
pub fn union(documents: u64, sizes: impl Iterator<Item = u64>) -> u64 {
    let total = documents.max(1) as f64;
    let (mut outside, mut most) = (1.0, 0);
    for size in sizes {
        outside *= 1.0 - (size as f64 / total).min(1.0);
        most = most.max(size);
    }
    ((total * (1.0 - outside)).round() as u64).max(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn union_is_between_the_largest_set_and_the_sum() {
        assert_eq!(union(1_000, [40].into_iter()), 40);
        assert_eq!(union(1_000, [100, 100].into_iter()), 190);
        assert_eq!(union(1_000, [1_000, 1].into_iter()), 1_000);
        assert_eq!(union(1_000_000_000, [1, 1].into_iter()), 2);
        assert_eq!(union(1_000, [0, 0].into_iter()), 0);
        assert_eq!(union(0, [3].into_iter()), 3, "the number of documents is outdated");
    }
}
