//! The checks that a run of the tests leaves out, by name.

/// Checks that `.ci/run` could not do, one a line.
const VARIABLE: &str = "RETRIEVAL_NOT_CHECKED";

/// Checks that are started by hand, with their commands.
const BY_HAND: &[(&str, &str)] = &[
    ("the server against Schemathesis and MCP clients", "cargo xtask e2e"),
    ("hostile input beyond the tests' own", "cargo fuzz run"),
    ("speed and size", "cargo xtask bench"),
];

/// Tests of upgrades, and the variable that names the program of an older release. Without it they end at once.
const UPGRADES: &str = "instances of an older release beside this one";
const OLD_PROGRAM: &str = "RETRIEVAL_SERVER_OLD_BIN";

/// Single tests end at once where the machine lacks a program or a permission that they need. The runner counts them as passed and
/// hides their output.
const ENDED_AT_ONCE: &str = "Tests that lack a program or a permission print `NOT RUN` or `NOT TESTED` and count as passed: \
                             `cargo nextest run --success-output final` shows their output";

/// Returns a line for each check that this run leaves out, and one about single tests. Checks by hand are of interest to continuous
/// integration only.
pub fn lines(in_ci: bool) -> Vec<String> {
    let has_old_program = std::env::var_os(OLD_PROGRAM).is_some_and(|path| !path.is_empty());
    of(std::env::var(VARIABLE).unwrap_or_default().as_str(), has_old_program, in_ci)
}

fn of(not_checked: &str, has_old_program: bool, in_ci: bool) -> Vec<String> {
    let by_hand = BY_HAND.iter().map(|(what, command)| format!("NOT tested: {what} (`{command}`)"));
    let upgrades = (!has_old_program).then(|| {
        format!("NOT tested: {UPGRADES} (`{OLD_PROGRAM}=FILE cargo xtask test -p retrieval-server upgrades`)")
    });
    let by_hand = by_hand.chain(upgrades).filter(|_| in_ci);
    let named = not_checked.lines().map(str::trim).filter(|line| !line.is_empty());
    let named = named.map(|line| format!("NOT checked: {line}"));
    by_hand.chain(named).chain([ENDED_AT_ONCE.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::{BY_HAND, ENDED_AT_ONCE, of};

    #[test]
    fn checks_that_could_not_run_are_named() {
        assert_eq!(
            of("licences\n\n advisories \n", false, false),
            ["NOT checked: licences", "NOT checked: advisories", ENDED_AT_ONCE]
        );
        assert_eq!(of("", false, false), [ENDED_AT_ONCE]);
    }

    #[test]
    fn continuous_integration_names_the_checks_by_hand() {
        let lines = of("", true, true);
        assert_eq!(lines.len(), BY_HAND.len() + 1);
        assert!(lines[0].ends_with("(`cargo xtask e2e`)"));
    }

    #[test]
    fn tests_of_upgrades_are_named_without_an_older_release() {
        let lines = of("", false, true);
        assert_eq!(lines.len(), BY_HAND.len() + 2);
        assert!(lines[BY_HAND.len()].contains("RETRIEVAL_SERVER_OLD_BIN=FILE "), "{lines:?}");
    }
}
