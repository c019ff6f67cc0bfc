//! Histogram of durations. Histograms merge, so that hours add up to days.

use std::collections::BTreeMap;

/// Each power of two has eight buckets, so a bucket is at most an eighth of its lower bound wide.
const SUB_BUCKETS_LOG2: u32 = 3;
const SUB_BUCKETS: u64 = 1 << SUB_BUCKETS_LOG2;

/// Counts of durations in logarithmic buckets, eight per power of two, as in [HdrHistogram](http://hdrhistogram.org/).
///
/// The relative error of a percentile is at most 1/16.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DurationHistogram(BTreeMap<u32, u64>);

impl DurationHistogram {
    /// Counts a duration in microseconds.
    pub fn record(&mut self, microseconds: u64) {
        *self.0.entry(bucket(microseconds)).or_default() += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.0 {
            let own = self.0.entry(*bucket).or_default();
            *own = own.saturating_add(*count);
        }
    }

    /// Returns a percentile (0-100) in microseconds: the middle of the bucket of the nearest rank. 0 for an empty
    /// histogram.
    pub fn percentile(&self, percent: f64) -> f64 {
        let total: u64 = self.0.values().sum();
        let rank = ((percent / 100.0 * total as f64).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0;
        for (bucket, count) in &self.0 {
            seen += count;
            if seen >= rank {
                let (low, width) = bounds(*bucket);
                return low as f64 + (width - 1) as f64 / 2.0;
            }
        }
        0.0
    }

    /// Encodes the buckets in order, each as LEB128 of the distance from the previous bucket and of the count.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 3);
        let mut previous = 0;
        for (bucket, count) in &self.0 {
            push_varint(u64::from(bucket - previous), &mut bytes);
            push_varint(*count, &mut bytes);
            previous = *bucket;
        }
        bytes
    }

    /// Decodes the output of [`Self::to_bytes`]. Returns `None` for invalid bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mut counts, mut rest, mut bucket) = (BTreeMap::new(), bytes, 0u32);
        while !rest.is_empty() {
            bucket = bucket.checked_add(u32::try_from(take_varint(&mut rest)?).ok()?)?;
            let count = take_varint(&mut rest)?;
            (bucket <= self::bucket(u64::MAX)).then_some(())?;
            counts.insert(bucket, count);
        }
        Some(Self(counts))
    }
}

fn bucket(value: u64) -> u32 {
    if value < SUB_BUCKETS {
        return value as u32;
    }
    let shift = value.ilog2() - SUB_BUCKETS_LOG2;
    let within = (value >> shift) - SUB_BUCKETS;
    (shift + 1) * SUB_BUCKETS as u32 + within as u32
}

/// Returns the lower bound and the width of a bucket.
fn bounds(bucket: u32) -> (u64, u64) {
    let (power, within) = (bucket / SUB_BUCKETS as u32, u64::from(bucket) % SUB_BUCKETS);
    match power.checked_sub(1) {
        None => (within, 1),
        Some(shift) => ((SUB_BUCKETS + within) << shift, 1 << shift),
    }
}

fn push_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_narrow() {
        let mut end = 0;
        for bucket in 0..bucket(u64::MAX) {
            let (low, width) = bounds(bucket);
            assert_eq!(low, end, "{bucket}");
            assert!(width == 1 || width * SUB_BUCKETS <= low, "{bucket}");
            assert_eq!((self::bucket(low), self::bucket(low + width - 1)), (bucket, bucket));
            end = low + width;
        }
    }

    #[test]
    fn percentile_error_is_bounded() {
        let mut histogram = DurationHistogram::default();
        assert_eq!(histogram.percentile(95.0), 0.0);
        for value in 1..=10_000 {
            histogram.record(value * 100);
        }
        for (percent, exact) in [(1.0, 10_000.0), (50.0, 500_000.0), (95.0, 950_000.0), (100.0, 1_000_000.0)] {
            let found = histogram.percentile(percent);
            assert!((found - exact).abs() <= exact / 16.0, "{percent}: {found}");
        }
    }

    #[test]
    fn merge_equals_recording_into_one() {
        let (mut one, mut other, mut all) = Default::default();
        for value in [0u64, 1, 7, 8, 9, 500, 500, 1 << 40, u64::MAX] {
            let half: &mut DurationHistogram = if value % 2 == 0 { &mut one } else { &mut other };
            half.record(value);
            DurationHistogram::record(&mut all, value);
        }
        one.merge(&other);
        assert_eq!(one, all);
        assert_eq!(DurationHistogram::from_bytes(&all.to_bytes()), Some(all));
    }

    #[test]
    fn invalid_bytes_are_rejected() {
        assert_eq!(DurationHistogram::from_bytes(&[]).unwrap(), DurationHistogram::default());
        for bytes in [&[0x80][..], &[1], &[0xff; 11], &[0xff, 0xff, 0xff, 0xff, 0x0f, 1]] {
            assert_eq!(DurationHistogram::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
