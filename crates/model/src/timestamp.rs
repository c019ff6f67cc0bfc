use std::time::Duration;

/// A point in time: milliseconds since the Unix epoch.
///
/// Arithmetic saturates: a duration that leads out of range ends at the first or last representable millisecond.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const MIN: Self = Self(i64::MIN);
    pub const MAX: Self = Self(i64::MAX);
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);

    pub const fn from_millis(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The time elapsed since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }
}

impl std::ops::Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        let second = Duration::from_secs(1);
        assert_eq!(Timestamp::from_millis(500) + second, Timestamp::from_millis(1_500));
        assert_eq!(Timestamp::from_millis(500) - second, Timestamp::from_millis(-500));
        assert_eq!(Timestamp::MAX + second, Timestamp::MAX);
        assert_eq!(Timestamp::MIN - Duration::MAX, Timestamp::MIN);
        assert_eq!(Timestamp::MAX.since(Timestamp::MIN), Duration::from_millis(i64::MAX as u64));
        assert_eq!(Timestamp::UNIX_EPOCH.since(Timestamp::MAX), Duration::ZERO);
    }
}
