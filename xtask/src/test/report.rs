//! Test results, parsed from the runner's output and repeated at the end.

/// Marks of nextest for tests that failed or passed only on retry. The last attempt of a retried test has a short mark.
const FAILURES: [&str; 12] =
    ["FAIL", "FLAKY", "FLKY", "TIMEOUT", "TMT", "SIG", "ABORT", "LEAK-FAIL", "LKFAIL", "FL+LK", "XFAIL", "EXEC"];

/// Result of a test run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub succeeded: bool,
    /// Closing line of the runner: `Summary [ 0.5s] 12 tests run: 12 passed, 0 skipped`.
    pub summary: Option<String>,
    /// Lines that name a failed or flaky test.
    pub failures: Vec<String>,
    pub skipped: u32,
    /// Tests marked `#[ignore]`.
    pub ignored: Vec<String>,
}

impl Report {
    /// Parses cargo-nextest output: the summary and the lines after it.
    pub fn of_nextest(lines: &[String]) -> Self {
        let lines: Vec<String> = lines.iter().map(|line| without_colors(line)).collect();
        let Some(at) = lines.iter().rposition(|line| line.trim_start().starts_with("Summary [")) else {
            return Self::default();
        };
        Self {
            summary: Some(lines[at].clone()),
            failures: lines[at + 1..].iter().filter(|line| is_failure(line)).cloned().collect(),
            skipped: number_before(&lines[at], " skipped").unwrap_or(0),
            ..Self::default()
        }
    }

    /// Sums the `test result:` lines of `cargo test` into a summary of the same form.
    pub fn of_cargo_test(lines: &[String]) -> Self {
        let results: Vec<&String> = lines.iter().filter(|line| line.starts_with("test result:")).collect();
        let sum = |what| results.iter().filter_map(|line| number_before(line, what)).sum::<u32>();
        let (passed, failed, skipped) = (sum(" passed"), sum(" failed"), sum(" ignored") + sum(" filtered out"));
        let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        Self {
            summary: Some(format!(
                "     Summary {} tests run: {passed} passed{failures}, {skipped} skipped",
                passed + failed
            )),
            failures: lines
                .iter()
                .filter(|line| line.starts_with("test ") && line.ends_with("FAILED"))
                .cloned()
                .collect(),
            skipped,
            ignored: lines
                .iter()
                .filter_map(|line| line.strip_prefix("test ")?.split_once(" ... ignored"))
                .map(|(name, _)| name.to_owned())
                .collect(),
            ..Self::default()
        }
    }

    /// Prints the notes, then the closing lines of the runner, with the summary last.
    pub fn print(&self, notes: &[String]) {
        println!("\n------------");
        for note in notes {
            println!("{note}");
        }
        for test in &self.ignored {
            println!("ignored: {test}");
        }
        for failure in &self.failures {
            println!("{failure}");
        }
        println!("{}", self.summary.as_deref().unwrap_or("no test was run"));
    }
}

/// Returns true for a line that names a failed or flaky test, such as `FAIL [ 0.005s] ...` or `TRY 2 TMT [ 9.000s] ...`.
fn is_failure(line: &str) -> bool {
    let line = line.trim_start();
    let status = match line.strip_prefix("TRY ") {
        Some(attempt) => attempt.trim_start_matches(|digit: char| digit.is_ascii_digit()).trim_start(),
        None => line,
    };
    FAILURES.iter().any(|mark| status.starts_with(mark))
}

/// Returns the number directly before `word`.
fn number_before(line: &str, word: &str) -> Option<u32> {
    let before = &line[..line.find(word)?];
    before.rsplit(|other: char| !other.is_ascii_digit()).next()?.parse().ok()
}

/// Removes colour escape sequences from a line.
fn without_colors(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or("", |(_, text)| text));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::Report;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn nextest_summary_is_parsed() {
        let report = Report::of_nextest(&lines(
            "        PASS [   0.004s] (1/3) app it::search\n\
             \u{1b}[31;1m        FAIL\u{1b}[0m [   0.005s] (2/3) app it::read\n\
             ------------\n\
             \u{1b}[31;1m     Summary\u{1b}[0m [   0.014s] 3 tests run: 2 passed, 1 failed, 4 skipped\n\
             \u{1b}[31;1m        FAIL\u{1b}[0m [   0.005s] (2/3) app it::read\n\
             \u{1b}[31;1m  TRY 2 FAIL\u{1b}[0m [   0.006s] (1/3) app it::retried\n\
             \u{1b}[31;1m   TRY 2 TMT\u{1b}[0m [   9.000s] (3/3) app it::slow\n\
             \u{1b}[31;1mTRY 2 SIGABRT\u{1b}[0m [   0.007s] (3/3) app it::aborted\n\
             \u{1b}[31;1m       XFAIL\u{1b}[0m [   0.001s] (3/3) app it::not_executable\n\
             \u{1b}[32;1m  TRY 2 PASS\u{1b}[0m [   0.008s] (3/3) app it::passed\n\
             error: test run failed",
        ));
        let summary = "     Summary [   0.014s] 3 tests run: 2 passed, 1 failed, 4 skipped";
        assert_eq!(report.summary.as_deref(), Some(summary));
        let expected = [
            "        FAIL [   0.005s] (2/3) app it::read",
            "  TRY 2 FAIL [   0.006s] (1/3) app it::retried",
            "   TRY 2 TMT [   9.000s] (3/3) app it::slow",
            "TRY 2 SIGABRT [   0.007s] (3/3) app it::aborted",
            "       XFAIL [   0.001s] (3/3) app it::not_executable",
        ];
        assert_eq!(report.failures, expected);
        assert_eq!(report.skipped, 4);
    }

    #[test]
    fn cargo_test_results_are_summed() {
        let report = Report::of_cargo_test(&lines(
            "test a::b ... ok\n\
             test a::slow ... ignored, a measurement\n\
             test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
             test c::d ... FAILED\n\
             test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.01s",
        ));
        assert_eq!(report.summary.as_deref(), Some("     Summary 6 tests run: 5 passed, 1 failed, 3 skipped"));
        assert_eq!(report.failures, ["test c::d ... FAILED"]);
        assert_eq!(report.ignored, ["a::slow"]);
    }

    #[test]
    fn aborted_run_has_no_summary() {
        assert_eq!(Report::of_nextest(&lines("error: could not compile")), Report::default());
    }
}
