//! Destination of finished spans, one per process.

use std::sync::OnceLock;

use crate::span::Span;

/// Destination of finished spans.
pub trait Recorder: Send + Sync {
    /// Takes a span. Called by the code that is measured, so it must neither block nor fail.
    fn record(&self, span: Span);
}

struct Installed {
    recorder: Box<dyn Recorder>,
    ratio: f64,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// Records the spans of this process from now on: those of traces that a caller records, and a share of between 0 and 1 of the
/// traces that start here. Returns false if there is a recorder already.
#[must_use]
pub fn install(recorder: Box<dyn Recorder>, ratio: f64) -> bool {
    INSTALLED.set(Installed { recorder, ratio }).is_ok()
}

pub(crate) fn get() -> Option<&'static dyn Recorder> {
    INSTALLED.get().map(|installed| installed.recorder.as_ref())
}

/// Returns true if a new trace is recorded. Without a recorder, other services decide for themselves.
pub(crate) fn samples(trace_id: u128) -> bool {
    INSTALLED.get().is_none_or(|installed| is_chosen(trace_id, installed.ratio))
}

/// Chooses a share of all traces by the last 32 bits of their ids, which are random in every version of UUIDs in use.
fn is_chosen(trace_id: u128, ratio: f64) -> bool {
    const CHOICES: f64 = (1_u64 << 32) as f64;
    f64::from(trace_id as u32) < ratio * CHOICES
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::is_chosen;

    #[test]
    fn ratio_is_the_share_of_chosen_traces() {
        let ids: Vec<u128> =
            (0..4_000).map(|number| if number % 2 == 0 { Uuid::now_v7() } else { Uuid::new_v4() }.as_u128()).collect();
        let chosen = |ratio| ids.iter().filter(|id| is_chosen(**id, ratio)).count();
        assert_eq!((chosen(0.0), chosen(1.0)), (0, ids.len()));
        // Seven standard deviations.
        assert!(chosen(0.25).abs_diff(1_000) < 200, "{}", chosen(0.25));
        assert!(is_chosen(u128::MAX, 1.0) && !is_chosen(0, 0.0));
    }
}
