//! Table of all scenarios, one line each.

use std::fmt::Write;
use std::time::Duration;

const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

/// Main figures of a scenario.
pub struct Line {
    name: &'static str,
    /// Latencies of the probe that is closest to its limit, or furthest beyond it.
    worst: Option<Latency>,
    failed: usize,
    peak: u64,
    held: u64,
    /// Number of missed targets.
    pub missed: usize,
    /// Reason for which nothing was measured.
    pub skipped: Option<String>,
}

#[derive(Clone, Copy)]
struct Latency {
    alone: Duration,
    beside: Duration,
    limit: Duration,
}

impl Latency {
    fn excess(&self) -> f64 {
        self.beside.as_secs_f64() / self.limit.as_secs_f64()
    }
}

impl Line {
    pub fn new(name: &'static str) -> Self {
        Self { name, worst: None, failed: 0, peak: 0, held: 0, missed: 0, skipped: None }
    }

    /// Adds the 95th percentiles of a probe and its number of failures.
    pub fn add_probe(&mut self, alone: Duration, beside: Duration, limit: Duration, failed: usize) {
        let latency = Latency { alone, beside, limit };
        if self.worst.is_none_or(|worst| latency.excess() > worst.excess()) {
            self.worst = Some(latency);
        }
        self.failed += failed;
    }

    pub fn add_memory(&mut self, peak: u64, held: u64) {
        self.peak = self.peak.max(peak);
        self.held = self.held.max(held);
    }

    fn text(&self, colour: bool) -> String {
        if let Some(reason) = &self.skipped {
            return format!("{:<18}skipped: {reason}", self.name);
        }
        let milliseconds = |pick: fn(&Latency) -> Duration| {
            self.worst.as_ref().map_or("-".to_owned(), |worst| format!("{:.1}", pick(worst).as_secs_f64() * 1e3))
        };
        let verdict = if self.missed == 0 { "ok".to_owned() } else { format!("{} missed", self.missed) };
        let mark = if self.missed == 0 { GREEN } else { RED };
        let (mark, plain) = if colour { (mark, PLAIN) } else { ("", "") };
        format!(
            "{:<18}{:>10}{:>12}{:>10}{:>8}{:>10.0}{:>10.0}  {mark}{verdict}{plain}",
            self.name,
            milliseconds(|worst| worst.alone),
            milliseconds(|worst| worst.beside),
            milliseconds(|worst| worst.limit),
            self.failed,
            self.peak as f64 / 1e6,
            self.held as f64 / 1e6,
        )
    }
}

/// Returns the table, coloured for a terminal.
pub fn table(lines: &[Line], colour: bool) -> String {
    let mut text = format!(
        "{:<18}{:>10}{:>12}{:>10}{:>8}{:>10}{:>10}  targets\n",
        "scenario", "p95 alone", "p95 beside", "limit ms", "failed", "peak MB", "held MB"
    );
    for line in lines {
        let _ = writeln!(text, "{}", line.text(colour));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Line, table};
    use std::time::Duration;

    #[test]
    fn line_shows_the_probe_furthest_beyond_its_limit() {
        let ms = Duration::from_millis;
        let mut line = Line::new("slow-site");
        line.add_probe(ms(4), ms(10), ms(28), 0);
        line.add_probe(ms(9), ms(15_000), ms(38), 3);
        line.add_probe(ms(100), ms(300), ms(220), 0);
        line.add_memory(1_200_000_000, 80_000_000);
        line.missed = 3;
        let mut skipped = Line::new("disk-full");
        skipped.skipped = Some("no mount".to_owned());
        let text = table(&[line, skipped], false);
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[1], ["slow-site", "9.0", "15000.0", "38.0", "3", "1200", "80", "3", "missed"]);
        assert_eq!(words[2], ["disk-full", "skipped:", "no", "mount"]);
        assert!(!text.contains('\x1b') && table(&[Line::new("a")], true).contains("\x1b[32mok"));
    }
}
