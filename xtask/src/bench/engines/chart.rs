//! Chart as SVG: bars of searches per second and of latencies, by collection.

use super::figures::Figures;
use super::table::grouped;
use std::fmt::Write;

const WIDTH: usize = 860;
const LABELS: usize = 300;
const BARS: usize = 460;
const ROW: usize = 22;
const HEADING: usize = 34;
/// Readable on light and dark backgrounds.
const COLORS: [&str; 6] = ["#2f7d6b", "#3f6fb5", "#8a5fb0", "#b06f2f", "#7a7a7a", "#b04f6b"];
const TEXT: &str = "#808080";

/// Figure of a panel, by its title.
type Panel = (&'static str, fn(&Figures) -> f64, fn(f64) -> String);

const PANELS: [Panel; 2] = [
    ("searches per second, 8 clients", |figures| figures.searches_per_second[1].unwrap_or(0.0), grouped),
    ("p50 of one client, ms", |figures| figures.p50_ms, |value| format!("{value:.1}")),
];

/// Returns the chart.
pub fn svg(all: &[Figures]) -> String {
    let mut contenders: Vec<&str> = Vec::new();
    for figures in all {
        if !contenders.contains(&&*figures.contender) {
            contenders.push(&figures.contender);
        }
    }
    let mut body = String::new();
    let mut y = 0;
    for (title, value, format) in PANELS {
        for same in all.chunk_by(|a, b| (&a.collection, a.documents) == (&b.collection, b.documents)) {
            y += HEADING;
            let documents = grouped(same[0].documents as f64);
            text(&mut body, 8, y - 10, "bold", &format!("{title}: {}, {documents} documents", same[0].collection));
            let most = same.iter().map(value).fold(f64::MIN_POSITIVE, f64::max);
            for figures in same {
                let length = (value(figures) / most * BARS as f64).round().max(1.0) as usize;
                let place = contenders.iter().position(|name| *name == figures.contender).unwrap_or(0);
                let color = COLORS[place % COLORS.len()];
                text(&mut body, 8, y + 15, "normal", &figures.contender);
                let _ = writeln!(
                    body,
                    "<rect x=\"{LABELS}\" y=\"{}\" width=\"{length}\" height=\"14\" fill=\"{color}\"/>",
                    y + 4
                );
                text(&mut body, LABELS + length + 6, y + 15, "normal", &format(value(figures)));
                y += ROW;
            }
        }
    }
    let height = y + 8;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<title>Search engines compared</title>\n{body}</svg>\n"
    )
}

fn text(body: &mut String, x: usize, y: usize, weight: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\" font-weight=\"{weight}\" fill=\"{TEXT}\">{content}</text>");
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::figures;
    use super::*;

    #[test]
    fn longest_bar_is_the_largest_figure_and_names_are_escaped() {
        let svg = svg(&[figures("a < b", 5_000, 400.0, None), figures("c", 5_000, 100.0, None)]);
        assert!(svg.contains("a &lt; b"), "{svg}");
        assert!(
            svg.contains(&format!("width=\"{BARS}\"")) && svg.contains(&format!("width=\"{}\"", BARS / 4)),
            "{svg}"
        );
        assert_eq!(svg.matches("<rect").count(), 4);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }
}
