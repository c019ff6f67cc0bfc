//! Confinement of a worker: what its jail really forbids, tested from within.

use std::fmt;
use std::fs::File;
use std::io;
use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;

use serde::{Deserialize, Serialize};

/// Name of the variable that makes a worker refuse to run without confinement.
pub const REQUIRED_VARIABLE: &str = "EXTRACT_WORKER_SANDBOX";
/// Name of the variable that makes a worker print its report and end.
pub const REPORT_VARIABLE: &str = "EXTRACT_WORKER_REPORT";
/// Value of a variable that is set.
pub const SET: &str = "1";

/// Layers of the jail that a system may lack.
const LAYERS: [&str; 2] = ["landlock", "seccomp"];

/// Protections of a worker against a document that takes it over.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct SandboxReport {
    /// Protections that the system accepted, such as `seccomp`.
    pub held: Vec<String>,
    /// Rights that the worker still has: `files`, `network`, `programs`.
    pub open: Vec<String>,
}

impl SandboxReport {
    /// Returns true if a worker can reach no files, no network and no programs. Seccomp alone achieves that; landlock is a
    /// second barrier in front of files and programs.
    pub fn is_confined(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the layers that the system lacks.
    pub fn missing_layers(&self) -> Vec<&'static str> {
        LAYERS.into_iter().filter(|layer| !self.held.iter().any(|held| held.starts_with(layer))).collect()
    }

    /// Tries the rights that the jail forbids. Call it in the jail.
    pub(crate) fn of_this_process(held: Vec<&'static str>) -> Self {
        let holds = |name: &str| held.iter().any(|held| held.starts_with(name));
        let files = !is_denied(File::open("/"));
        let network = !is_denied(UdpSocket::bind(("127.0.0.1", 0))) || !is_denied(UnixDatagram::unbound());
        // Landlock cannot forbid sockets, so without them the filter of system calls is in force.
        let programs = !(holds("landlock") || (holds("seccomp") && !network));
        let rights = [("files", files), ("network", network), ("programs", programs)];
        let open = rights.into_iter().filter(|(_, open)| *open).map(|(name, _)| name.to_owned()).collect();
        Self { held: held.into_iter().map(str::to_owned).collect(), open }
    }
}

/// Formats the report as a remark such as `no files, network or programs; missing: landlock`.
impl fmt::Display for SandboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.open.as_slice() {
            [] => write!(f, "workers can use no files, network or programs")?,
            open => write!(f, "workers can use: {}", open.join(", "))?,
        }
        match self.missing_layers().as_slice() {
            [] => Ok(()),
            missing => write!(f, "; missing: {}", missing.join(", ")),
        }
    }
}

/// Returns true if the system refused the attempt, whatever else might have made it fail.
fn is_denied<T>(attempt: io::Result<T>) -> bool {
    attempt.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_rights_and_missing_layers_are_named() {
        let confined = SandboxReport { held: vec!["memory".into(), "seccomp".into()], open: Vec::new() };
        assert!(confined.is_confined());
        assert_eq!(confined.to_string(), "workers can use no files, network or programs; missing: landlock");
        let open = vec!["files".into(), "network".into()];
        let bare = SandboxReport { held: vec!["memory".into()], open };
        assert!(!bare.is_confined());
        assert_eq!(bare.to_string(), "workers can use: files, network; missing: landlock, seccomp");
    }

    #[test]
    fn process_without_a_jail_has_every_right() {
        assert_eq!(SandboxReport::of_this_process(vec!["memory"]).open, ["files", "network", "programs"]);
    }
}
