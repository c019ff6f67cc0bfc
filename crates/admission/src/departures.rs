//! Distribution of the time after which clients leave, estimated by Kaplan and Meier (1958): clients that received an answer would have
//! waited longer, nobody knows how long.

use std::time::Duration;

use tokio::time::Instant;

/// Clients that leave earlier than this say nothing about a queue.
const SHORTEST: Duration = Duration::from_millis(100);
/// Ratio of the bounds of a class of times.
const RATIO: f64 = 1.2;
/// Number of classes, the last of them unbounded: from a tenth of a second to 20 s.
const CLASSES: usize = 30;
/// Time after which an observation counts for a third.
const MEMORY: Duration = Duration::from_secs(60);
/// Clients that are assumed to have waited longer than any other, so that the first that leaves is not all that is known.
const ASSUMED: f64 = 1.0;

/// Clients by the time that they waited.
#[derive(Debug, Default)]
pub struct Departures {
    classes: [Class; CLASSES],
    last: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    left: f64,
    /// Those that left, and those that received an answer.
    all: f64,
}

impl Departures {
    /// Records a client that left or received its answer after `waited`.
    pub fn record(&mut self, waited: Duration, left: bool, now: Instant) {
        if waited < SHORTEST {
            return;
        }
        if let Some(last) = self.last.replace(now) {
            let decay = (-(now - last).as_secs_f64() / MEMORY.as_secs_f64()).exp();
            for class in &mut self.classes {
                class.left *= decay;
                class.all *= decay;
            }
        }
        let class = &mut self.classes[class_of(waited)];
        class.left += f64::from(u8::from(left));
        class.all += 1.0;
    }

    /// Returns the time after which a quarter of the clients have left, rounded down to its class. `None` if more than three
    /// quarters would wait for any time on record.
    pub fn first_quartile(&self) -> Option<Duration> {
        let mut staying: f64 = ASSUMED + self.classes.iter().map(|class| class.all).sum::<f64>();
        let mut survival = 1.0;
        for (class, bound) in self.classes.iter().zip(0..) {
            survival *= 1.0 - class.left / staying;
            if survival <= 0.75 {
                return Some(SHORTEST.mul_f64(RATIO.powi(bound)));
            }
            staying -= class.all;
        }
        None
    }
}

fn class_of(waited: Duration) -> usize {
    let classes = (waited.as_secs_f64() / SHORTEST.as_secs_f64()).ln() / RATIO.ln();
    (classes as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departures(observations: &[(u64, bool)]) -> Departures {
        let mut departures = Departures::default();
        for (milliseconds, left) in observations {
            departures.record(Duration::from_millis(*milliseconds), *left, Instant::now());
        }
        departures
    }

    #[tokio::test(start_paused = true)]
    async fn quartile_is_rounded_down_to_its_class() {
        assert_eq!(departures(&[]).first_quartile(), None);
        for milliseconds in [100, 130, 500, 1_000, 1_999, 20_000, 3_600_000] {
            let quartile = departures(&[(milliseconds, true)]).first_quartile().expect("a quartile").as_millis() as u64;
            let lowest = (milliseconds * 10 / 12).min(19_700);
            assert!((lowest..=milliseconds).contains(&quartile), "{quartile} of {milliseconds}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_received_an_answer_would_have_waited_longer() {
        let answered = [(150, false); 10];
        let left = [(500, true); 3];
        let quartile = departures(&[answered.as_slice(), &left].concat()).first_quartile().expect("a quartile");
        assert!(
            (416..=500).contains(&quartile.as_millis()),
            "answers after 0.15 s say nothing about 0.5 s: {quartile:?}"
        );
        let answered = [(900, false); 20];
        assert_eq!(departures(&[answered.as_slice(), &left].concat()).first_quartile(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn observations_fade() {
        let mut departures = departures(&[(900, false); 10]);
        let later = Instant::now() + 4 * MEMORY;
        departures.record(Duration::from_millis(500), true, later);
        departures.record(Duration::from_millis(500), true, later);
        assert!(departures.first_quartile().is_some());
    }
}
