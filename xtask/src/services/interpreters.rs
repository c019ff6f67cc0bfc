//! Python with `requests`, and Node with `fetch`, for the examples of the documentation. Installed if they are missing and we are
//! root on Debian.

use super::{Provided, Running, Service, apt};
use crate::shell;
use anyhow::bail;
use std::path::Path;
use std::process::Command;

/// Interpreter of the examples in one language.
pub struct Interpreter {
    name: &'static str,
    /// Environment variable with its path, for the tests.
    variable: &'static str,
    /// Names or paths, the first that works.
    programs: &'static [&'static str],
    /// Script that fails without what the examples use.
    check: [&'static str; 2],
    package: &'static str,
}

/// The system's own Python has the system's packages, whatever is first on the PATH.
pub const PYTHON: Interpreter = Interpreter {
    name: "Python with requests",
    variable: "TEST_PYTHON",
    programs: &["python3", "/usr/bin/python3"],
    check: ["-c", "import requests"],
    package: "python3-requests",
};

pub const NODE: Interpreter = Interpreter {
    name: "Node with fetch",
    variable: "TEST_NODE",
    programs: &["node", "/usr/bin/node"],
    check: ["-e", "if (!globalThis.fetch) process.exit(1)"],
    package: "nodejs",
};

impl Service for Interpreter {
    fn name(&self) -> &'static str {
        self.name
    }

    fn provide(&self) -> Provided {
        match self.find_or_install() {
            Ok(running) => Provided::Running(running),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    /// Only examples of the documentation need it.
    fn required_in_ci(&self) -> bool {
        false
    }
}

impl Interpreter {
    fn find_or_install(&self) -> anyhow::Result<Running> {
        if let Some(found) = self.find() {
            return Ok(found);
        }
        apt::install(self.package, &format!("no {} found on the PATH", self.name), self.variable)?;
        match self.find() {
            Some(found) => Ok(found),
            None => bail!("apt-get installed {}, but the examples do not run", self.package),
        }
    }

    fn find(&self) -> Option<Running> {
        let given = std::env::var(self.variable).ok().filter(|given| !given.is_empty());
        let programs = given.iter().map(String::as_str).chain(self.programs.iter().copied());
        programs.into_iter().find_map(|program| {
            let path = if Path::new(program).is_absolute() { program.into() } else { shell::find_program(program)? };
            shell::output(Command::new(&path).args(self.check)).ok()?;
            let version = shell::output(Command::new(&path).arg("--version")).ok()?;
            let environment = vec![(self.variable, path.to_str()?.to_owned())];
            Some(Running { how: version, environment, _guard: None })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Interpreter;

    #[test]
    fn first_program_that_passes_the_check_is_used() {
        let shell = Interpreter {
            name: "a shell",
            variable: "TEST_NO_SUCH_SHELL",
            programs: &["no-such-shell", "/bin/false", "bash"],
            check: ["-c", "test -n \"$BASH_VERSION\""],
            package: "bash",
        };
        let Some(found) = shell.find() else { panic!("no bash") };
        assert!(found.how.contains("bash"), "{}", found.how);
        let [(variable, path)] = &found.environment[..] else { panic!("{:?}", found.environment) };
        assert_eq!(*variable, "TEST_NO_SUCH_SHELL");
        assert!(path.ends_with("/bash"), "{path}");
    }
}
