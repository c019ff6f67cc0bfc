//! The checks that a run of the tests leaves out, by name.

/// Checks that `.ci/run` could not do, one a line.
const VARIABLE: &str = "RETRIEVAL_NOT_CHECKED";

/// Checks that are started by hand, with their commands.
const BY_HAND: &[(&str, &str)] = &[
    ("the server against Schemathesis and MCP clients", "cargo xtask e2e"),
    ("hostile input beyond the tests' own", "cargo fuzz run"),
    ("speed and size", "cargo xtask bench"),
];

/// Returns a line for each check that this run leaves out. Those by hand are of interest to continuous integration only.
pub fn lines(in_ci: bool) -> Vec<String> {
    of(std::env::var(VARIABLE).unwrap_or_default().as_str(), in_ci)
}

fn of(not_checked: &str, in_ci: bool) -> Vec<String> {
    let by_hand = BY_HAND.iter().filter(|_| in_ci).map(|(what, command)| format!("NOT tested: {what} (`{command}`)"));
    let named = not_checked.lines().map(str::trim).filter(|line| !line.is_empty());
    by_hand.chain(named.map(|line| format!("NOT checked: {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::{BY_HAND, of};

    #[test]
    fn checks_that_could_not_run_are_named() {
        assert_eq!(of("licences\n\n advisories \n", false), ["NOT checked: licences", "NOT checked: advisories"]);
        assert_eq!(of("", false), Vec::<String>::new());
    }

    #[test]
    fn continuous_integration_names_the_checks_by_hand() {
        let lines = of("", true);
        assert_eq!(lines.len(), BY_HAND.len());
        assert!(lines[0].ends_with("(`cargo xtask e2e`)"));
    }
}
