//! Findings and their output.

use serde_json::json;

use crate::{logging, output};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    Pass,
    /// Works, but not as it should.
    Warn,
    Fail,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Warn => "warn",
            Status::Fail => "fail",
        }
    }
}

/// Outcome of one check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    pub check: &'static str,
    pub status: Status,
    pub detail: String,
    /// Advice; none if all is well.
    pub hint: Option<String>,
}

impl Finding {
    pub fn pass(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, status: Status::Pass, detail: detail.into(), hint: None }
    }

    pub fn warn(check: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, status: Status::Warn, detail: detail.into(), hint: Some(hint.into()) }
    }

    pub fn fail(check: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, status: Status::Fail, detail: detail.into(), hint: Some(hint.into()) }
    }
}

pub fn print(findings: &[Finding], json: bool) {
    if json {
        for Finding { check, status, detail, hint } in findings {
            output::json(&json!({ "check": check, "status": status.as_str(), "detail": detail, "hint": hint }));
        }
        return;
    }
    output::text(&table(findings));
}

fn table(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    let line = |Finding { check, status, detail, hint }: &Finding| {
        let mut line = format!("{check:width$}  {}  {}\n", status.as_str(), logging::visible(detail));
        if let Some(hint) = hint {
            line.push_str(&format!("{:width$}        -> {}\n", "", logging::visible(hint)));
        }
        line
    };
    findings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_the_table_are_aligned_and_hints_stand_below() {
        let findings = [Finding::pass("disk", "7 bytes"), Finding::fail("database", "is\ngone", "start it")];
        let expected = "disk      pass  7 bytes\ndatabase  fail  is\\ngone\n                -> start it\n";
        assert_eq!(table(&findings), expected);
    }
}
