//! Recall of the vector search against exact comparison, by an example of `engine-tantivy`.

use crate::bench::report::Section;
use crate::bench::spinner;
use crate::shell;
use anyhow::Context;
use std::process::Command;

/// Share of the ten nearest that a search must find.
const TARGET: f64 = 0.98;

/// Measures this number of clustered vectors with 384 components.
pub fn measure(documents: usize, section: &mut Section) -> anyhow::Result<()> {
    let mut build = shell::cargo();
    build.args(["build", "--release", "--package", "engine-tantivy", "--example", "vector_bench"]);
    shell::run(&mut build)?;
    let program = shell::target_folder()?.join("release/examples/vector_bench");
    let waiting = spinner(format!("searching {documents} vectors"));
    let printed = shell::output(Command::new(program).arg(documents.to_string()))?;
    waiting.finish_and_clear();
    let figure = |line: &str, name: &str| {
        number_after(&printed, line, name).with_context(|| format!("no {line} in `{printed}`"))
    };
    section.number("recall@10 of exact", figure("recall@10", "recall@10")?).target_at_least(TARGET);
    section.number("p50 ms", figure("all documents", "p50")?);
    section.number("p99 ms", figure("all documents", "p99")?);
    section.number("documents/s imported", figure("import", "per commit")?);
    Ok(())
}

/// Returns the number after `name` in the line that begins with `line`.
fn number_after(printed: &str, line: &str, name: &str) -> Option<f64> {
    let line = printed.lines().find(|printed| printed.starts_with(line))?;
    line.split_once(name)?.1.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::number_after;

    #[test]
    fn figures_are_read_from_lines() {
        let printed = "import, 2000 per commit       12000 documents/s\n\
                       all documents              p50    8.01 ms  p99   12.50 ms\n\
                       recall@10                     0.9990\n";
        let figure = |line, name| number_after(printed, line, name);
        assert_eq!(figure("recall@10", "recall@10"), Some(0.999));
        assert_eq!((figure("all documents", "p50"), figure("all documents", "p99")), (Some(8.01), Some(12.5)));
        assert_eq!(figure("import", "per commit"), Some(12_000.0));
        assert_eq!(figure("unheard", "of"), None);
    }
}
