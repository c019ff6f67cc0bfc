//! Tables in markdown.

use super::figures::{CLIENTS, Figures};
use std::fmt::Write;

/// Returns one table per collection.
pub fn markdown(all: &[Figures]) -> String {
    let mut text = String::new();
    for same in all.chunk_by(|a, b| (&a.collection, a.documents) == (&b.collection, b.documents)) {
        let has_quality = same.iter().any(|figures| figures.ndcg.is_some());
        let first = &same[0];
        let _ = write!(text, "{} ({} documents):\n\n| | p50, p99 |", first.collection, grouped(first.documents as f64));
        for clients in CLIENTS {
            let _ = write!(text, " searches/s, {clients} |");
        }
        let quality = if has_quality { " nDCG@10 |" } else { "" };
        let _ = writeln!(text, "{quality} import | memory | disk |");
        let columns = 5 + CLIENTS.len() + usize::from(has_quality);
        let _ = writeln!(text, "|{}", " --- |".repeat(columns));
        for figures in same {
            row(&mut text, figures, has_quality);
        }
        text.push('\n');
    }
    text
}

fn row(text: &mut String, figures: &Figures, has_quality: bool) {
    let Figures { contender, p50_ms, p99_ms, .. } = figures;
    let _ = write!(text, "| {contender} | {p50_ms:.1}, {p99_ms:.1} ms |");
    for rate in figures.searches_per_second {
        let _ = write!(text, " {} |", rate.map_or("failed".to_owned(), grouped));
    }
    if has_quality {
        let ndcg = figures.ndcg.map(|ndcg| format!("{ndcg:.3}")).unwrap_or_default();
        let _ = write!(text, " {ndcg} |");
    }
    let [rate, memory, disk] = [figures.import.rate, figures.memory_mb, figures.import.disk_mb].map(grouped);
    let _ = writeln!(text, " {rate}/s | {memory} MB | {disk} MB |");
}

/// Formats a whole number with separators of thousands.
pub fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::bench::engines::figures::Import;

    pub fn figures(contender: &str, documents: usize, rate: f64, ndcg: Option<f64>) -> Figures {
        Figures {
            contender: contender.to_owned(),
            collection: "topics".to_owned(),
            documents,
            p50_ms: 2.46,
            p99_ms: 12.0,
            searches_per_second: [Some(rate), Some(2.0 * rate), (rate < 500.0).then_some(2.5 * rate)],
            ndcg,
            import: Import { rate: 1_234_567.0, disk_mb: 99.6 },
            memory_mb: 370.0,
        }
    }

    #[test]
    fn each_collection_is_a_table() {
        let all = [
            figures("embedded", 1_400, 400.0, Some(0.5671)),
            figures("raw", 1_400, 500.0, None),
            figures("raw", 5_000, 450.0, None),
        ];
        let lines: Vec<String> = markdown(&all).lines().map(str::to_owned).collect();
        assert_eq!(
            lines[..7],
            [
                "topics (1,400 documents):",
                "",
                "| | p50, p99 | searches/s, 1 | searches/s, 8 | searches/s, 64 | nDCG@10 | import | memory | disk |",
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
                "| embedded | 2.5, 12.0 ms | 400 | 800 | 1,000 | 0.567 | 1,234,567/s | 370 MB | 100 MB |",
                "| raw | 2.5, 12.0 ms | 500 | 1,000 | failed |  | 1,234,567/s | 370 MB | 100 MB |",
                "",
            ]
        );
        assert_eq!(lines[7], "topics (5,000 documents):");
        assert!(!lines[9].contains("nDCG"));
    }
}
