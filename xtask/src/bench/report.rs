//! Figures, as tables for people and as JSON for programs.

use super::machine::Machine;
use super::samples::Samples;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::time::Duration;

/// Figures by section, in the order of measurement.
pub struct Report {
    machine: Machine,
    sections: Vec<Section>,
}

/// Figures of one workload.
pub struct Section {
    title: String,
    rows: Vec<Row>,
}

/// One figure. Its name includes the unit, because it is also a JSON key.
struct Row {
    name: Cow<'static, str>,
    value: f64,
    target: Option<Target>,
}

/// Target of a figure.
#[derive(Clone, Copy)]
enum Target {
    Below(f64),
    AtLeast(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::Below(limit) => value < limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(limit) => write!(f, "below {}", readable(*limit)),
            Self::AtLeast(limit) => write!(f, "at least {}", readable(*limit)),
        }
    }
}

impl Report {
    pub fn new(machine: Machine) -> Self {
        Self { machine, sections: Vec::new() }
    }

    pub fn section(&mut self, title: impl Into<String>) -> &mut Section {
        self.sections.push(Section { title: title.into(), rows: Vec::new() });
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns one object: `machine`, and under `figures` an object per section.
    pub fn json(&self) -> Value {
        let figures = self.sections.iter().map(|section| {
            let rows = section.rows.iter().map(|row| (row.name.to_string(), json!(row.value)));
            (section.title.clone(), Value::Object(rows.collect::<Map<_, _>>()))
        });
        json!({"machine": self.machine, "figures": Value::Object(figures.collect())})
    }

    /// Returns the number of missed targets.
    pub fn missed(&self) -> usize {
        self.sections.iter().map(Section::missed).sum()
    }

    /// Returns a table per section, with missed targets marked.
    pub fn text(&self) -> String {
        let m = &self.machine;
        let mut text = format!(
            "{}, {} cores, {:.1} GB; commit {}; {}; load before {:.2}\n",
            m.cpu, m.cores, m.memory_gb, m.commit, m.date, m.load_before
        );
        for section in &self.sections {
            let _ = writeln!(text, "\n{}", section.title);
            for Row { name, value, target } in &section.rows {
                let figure = readable(*value);
                let note = match target {
                    Some(target) if target.is_met(*value) => format!("  (target: {target})"),
                    Some(target) => format!("  MISSES THE TARGET: {target}"),
                    None => String::new(),
                };
                let _ = writeln!(text, "  {name:<36}{figure:>12}{note}");
            }
        }
        text
    }
}

impl Section {
    /// Returns the number of missed targets.
    pub fn missed(&self) -> usize {
        self.rows.iter().filter(|row| row.target.is_some_and(|target| !target.is_met(row.value))).count()
    }

    pub fn number(&mut self, name: &'static str, value: f64) -> &mut Self {
        self.rows.push(Row { name: name.into(), value, target: None });
        self
    }

    /// Adds a figure with a computed name.
    pub fn named(&mut self, name: String, value: f64) -> &mut Self {
        self.rows.push(Row { name: name.into(), value, target: None });
        self
    }

    /// Sets an upper target for the last figure.
    pub fn target_below(&mut self, below: f64) -> &mut Self {
        self.set_target(Target::Below(below))
    }

    /// Sets a lower target for the last figure.
    pub fn target_at_least(&mut self, least: f64) -> &mut Self {
        self.set_target(Target::AtLeast(least))
    }

    fn set_target(&mut self, target: Target) -> &mut Self {
        if let Some(row) = self.rows.last_mut() {
            row.target = Some(target);
        }
        self
    }

    pub fn count(&mut self, name: &'static str, value: usize) -> &mut Self {
        self.number(name, value as f64)
    }

    pub fn milliseconds(&mut self, name: &'static str, value: Duration) -> &mut Self {
        self.number(name, value.as_secs_f64() * 1e3)
    }

    pub fn seconds(&mut self, name: &'static str, value: Duration) -> &mut Self {
        self.number(name, value.as_secs_f64())
    }

    pub fn megabytes(&mut self, name: &'static str, bytes: u64) -> &mut Self {
        self.number(name, bytes as f64 / 1e6)
    }

    pub fn per_second(&mut self, name: &'static str, count: f64, time: Duration) -> &mut Self {
        self.number(name, count / time.as_secs_f64().max(f64::EPSILON))
    }

    /// Adds median, 90th and 99th percentile and maximum under four names.
    pub fn latencies(&mut self, names: [&'static str; 4], samples: &Samples) -> &mut Self {
        let [p50, p90, p99, max] = names;
        self.milliseconds(p50, samples.median()).milliseconds(p90, samples.percentile(90.0));
        self.milliseconds(p99, samples.percentile(99.0)).milliseconds(max, samples.max())
    }
}

/// Formats a number with its significant digits.
fn readable(value: f64) -> String {
    match value {
        _ if value.fract() == 0.0 || value >= 1_000.0 => format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ if value >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Machine, Report};
    use std::time::Duration;

    fn report() -> Report {
        let mut report = Report::new(Machine {
            cpu: "abacus".to_owned(),
            cores: 2,
            memory_gb: 1.0,
            commit: "abc".to_owned(),
            date: "2026-01-01T00:00:00Z".to_owned(),
            load_before: 0.5,
        });
        let section = report.section("search");
        section.milliseconds("p50 ms", Duration::from_micros(1_500)).target_below(5.0);
        section.milliseconds("p99 ms", Duration::from_millis(26)).target_below(25.0);
        section.per_second("searches/s", 30.0, Duration::from_millis(100)).target_at_least(300.0);
        section.number("documents/s", 1_999.0).target_at_least(2_000.0);
        report
    }

    #[test]
    fn missed_targets_are_marked() {
        let text = report().text();
        assert!(text.contains("abacus, 2 cores"));
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(lines.contains(&vec!["p50", "ms", "1.50", "(target:", "below", "5)"]), "{text}");
        assert!(lines.contains(&vec!["p99", "ms", "26", "MISSES", "THE", "TARGET:", "below", "25"]), "{text}");
        assert!(lines.contains(&vec!["searches/s", "300", "(target:", "at", "least", "300)"]), "{text}");
        assert!(text.contains("MISSES THE TARGET: at least 2000"), "{text}");
    }

    #[test]
    fn json_holds_the_exact_figures() {
        let json = report().json();
        assert_eq!(json["figures"]["search"]["p50 ms"], 1.5);
        assert_eq!(json["machine"]["commit"], "abc");
    }

    #[test]
    fn missed_targets_are_counted() {
        assert_eq!(report().missed(), 2);
    }
}
