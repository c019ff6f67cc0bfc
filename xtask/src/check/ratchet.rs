//! Rules that hold everywhere except for a number of known places per crate. That number may only fall.

use super::Breach;
use std::collections::BTreeMap;

/// The number of places that a rule tolerates in each crate; zero for a crate that is not listed.
pub type Allowed = &'static [(&'static str, usize)];

/// The places that break a rule, by crate.
#[derive(Debug, Default)]
pub struct Places(BTreeMap<String, Vec<String>>);

impl Places {
    /// Adds a place such as `crates/app/src/web.rs:12 "Whether ..."`.
    pub fn add(&mut self, krate: &str, place: String) {
        self.0.entry(krate.to_owned()).or_default().push(place);
    }

    /// Returns the places of every crate that has more of them than `allowed`.
    pub fn beyond(&self, allowed: Allowed, cure: &str) -> Vec<Breach> {
        let mut breaches = Vec::new();
        for (krate, places) in &self.0 {
            let limit = allowed.iter().find(|(known, _)| known == krate).map_or(0, |(_, limit)| *limit);
            if places.len() > limit {
                let allowed = if limit == 0 { "none is".to_owned() } else { format!("{limit} are") };
                let list: String = places.iter().map(|place| format!("\n           {place}")).collect();
                breaches.push(Breach::new(format!("`{krate}` has {}, {allowed} allowed:{list}", places.len()), cure));
            }
        }
        breaches
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn only_a_crate_beyond_its_number_is_reported() {
        let mut places = Places::default();
        for (krate, place) in [("app", "a.rs:1"), ("app", "a.rs:2"), ("docstore", "b.rs:1"), ("ingest", "c.rs:1")] {
            places.add(krate, place.to_owned());
        }
        let found: Vec<String> =
            places.beyond(&[("app", 1), ("docstore", 1)], "").into_iter().map(|breach| breach.what).collect();
        assert_eq!(
            found,
            [
                "`app` has 2, 1 are allowed:\n           a.rs:1\n           a.rs:2",
                "`ingest` has 1, none is allowed:\n           c.rs:1",
            ]
        );
    }
}
