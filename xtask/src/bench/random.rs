//! Random numbers that depend only on their seed, not on machine or library versions.

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `0.0..1.0` from 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number in `0..below`, which must not be 0. The modulo bias is below 1 in 2^50 for the bounds used
    /// here.
    pub fn below(&mut self, below: usize) -> usize {
        (self.next() % below as u64) as usize
    }

    /// Returns a number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }
}

/// Word ranks with a natural distribution: rank r (from 0) has the weight 1 / (r + 1 + 2.7)^1.07.
///
/// This is Mandelbrot's form of Zipf's law with usual values for English: the most common word has a share of about 4
/// %, not 10 % as in the plain law.
pub struct Zipf {
    /// Sum of the weights up to each rank.
    sums: Vec<f64>,
}

impl Zipf {
    const OFFSET: f64 = 2.7;
    const EXPONENT: f64 = 1.07;

    /// Creates a distribution of `ranks` ranks, at least one.
    pub fn new(ranks: usize) -> Self {
        let weight = |rank: usize| (rank as f64 + 1.0 + Self::OFFSET).powf(-Self::EXPONENT);
        let sums = (0..ranks.max(1)).scan(0.0, |sum, rank| {
            *sum += weight(rank);
            Some(*sum)
        });
        Self { sums: sums.collect() }
    }

    /// Returns a rank, from 0.
    pub fn sample(&self, random: &mut Random) -> usize {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let drawn = random.unit() * total;
        self.sums.partition_point(|sum| *sum <= drawn).min(self.sums.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, Zipf};

    #[test]
    fn seed_gives_the_published_numbers() {
        // First outputs of Vigna's reference code for seed 0 (splitmix64.c).
        let mut random = Random::new(0);
        assert_eq!(random.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn ranks_follow_the_law() {
        let (zipf, mut random) = (Zipf::new(1_000), Random::new(7));
        let mut counts = vec![0_u32; 1_000];
        for _ in 0..200_000 {
            counts[zipf.sample(&mut random)] += 1;
        }
        for (rank, other) in [(0, 9), (9, 99)] {
            let law = ((other as f64 + 3.7) / (rank as f64 + 3.7)).powf(1.07);
            let seen = f64::from(counts[rank]) / f64::from(counts[other]);
            assert!((seen / law - 1.0).abs() < 0.15, "{rank} to {other}: {seen} instead of {law}");
        }
    }

    #[test]
    fn bounds_are_respected() {
        let mut random = Random::new(3);
        let drawn: Vec<usize> = (0..1_000).map(|_| random.between(2, 4)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&2), Some(&4)));
        assert_eq!(Zipf::new(1).sample(&mut random), 0);
    }
}
