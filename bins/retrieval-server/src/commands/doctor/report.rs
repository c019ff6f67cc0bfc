//! Findings and their output.

use std::io::Write;

use serde_json::json;

use crate::{logging, output};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    Ok,
    /// Works, but not as it should.
    Warning,
    Failed,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed => "failed",
        }
    }
}

/// Outcome of one check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    pub check: &'static str,
    pub status: Status,
    pub detail: String,
}

impl Finding {
    pub fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, status: Status::Ok, detail: detail.into() }
    }

    pub fn warning(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, status: Status::Warning, detail: detail.into() }
    }

    pub fn failed(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, status: Status::Failed, detail: detail.into() }
    }
}

pub fn print(findings: &[Finding], json: bool) {
    if json {
        for Finding { check, status, detail } in findings {
            output::json(&json!({ "check": check, "status": status.as_str(), "detail": detail }));
        }
        return;
    }
    let _ = std::io::stdout().write_all(table(findings).as_bytes());
}

fn table(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    let line = |Finding { check, status, detail }: &Finding| {
        format!("{check:width$}  {:7}  {}\n", status.as_str(), logging::visible(detail))
    };
    findings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_the_table_are_aligned() {
        let findings = [Finding::ok("disk", "7 bytes"), Finding::failed("database", "is\ngone")];
        assert_eq!(table(&findings), "disk      ok       7 bytes\ndatabase  failed   is\\ngone\n");
    }
}
