//! Calls of the services outside, counted by run, which a test holds back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Longest time until a call is held.
const DEADLINE: Duration = Duration::from_secs(30);

/// Gate of all calls that the server makes for runs. A run is known by the rare word of its question.
#[derive(Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    calls: BTreeMap<String, usize>,
    /// Numbers of the calls to hold, from 0.
    hold: BTreeMap<String, usize>,
    held: BTreeSet<String>,
}

impl Gate {
    /// Counts a call of the run that the text names, and waits if the test holds it.
    pub fn pass(&self, text: &str) {
        let mut state = self.lock();
        let Some(word) = state.calls.keys().find(|word| text.contains(word.as_str())).cloned() else { return };
        let number = state.calls[&word];
        state.calls.insert(word.clone(), number + 1);
        if state.hold.get(&word) == Some(&number) {
            state.held.insert(word.clone());
            self.changed.notify_all();
            while state.held.contains(&word) {
                state = self.changed.wait(state).unwrap();
            }
        }
    }

    /// Counts the calls of a run from now on.
    pub fn watch(&self, word: &str) {
        self.lock().calls.entry(word.to_owned()).or_default();
    }

    /// Number of the calls of a run so far.
    pub fn calls(&self, word: &str) -> usize {
        self.lock().calls.get(word).copied().unwrap_or(0)
    }

    /// Holds a call of a run, by its number.
    pub fn hold(&self, word: &str, number: usize) {
        self.watch(word);
        self.lock().hold.insert(word.to_owned(), number);
    }

    /// Waits until the call is held, or until `ended`. Returns true if it is held.
    #[track_caller]
    pub fn is_held(&self, word: &str, ended: impl Fn() -> bool) -> bool {
        let started = std::time::Instant::now();
        loop {
            let waited = self.changed.wait_timeout(self.lock(), Duration::from_millis(50)).unwrap();
            if waited.0.held.contains(word) {
                return true;
            }
            drop(waited);
            if ended() {
                return false;
            }
            assert!(started.elapsed() < DEADLINE, "no call of `{word}` to hold");
        }
    }

    /// Lets all held calls pass, and holds no more.
    pub fn release(&self) {
        let mut state = self.lock();
        state.hold.clear();
        state.held.clear();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}
