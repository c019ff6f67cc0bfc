//! An S3 store other than the embedded one: the one that the environment names, or a private Garage if it is installed.

use super::{Provided, Running, Service, free_ports, process};
use crate::shell;
use anyhow::Context;
use std::process::Command;

/// The variables that the conformance tests of `blobs-s3` need.
const VARIABLES: [&str; 4] = ["TEST_S3_ENDPOINT", "TEST_S3_KEY", "TEST_S3_SECRET", "TEST_S3_BUCKET"];
const PROGRAM: &str = "garage";
const BUCKET: &str = "workspace";
/// Key id and secret of the private store, in the form that Garage requires.
const KEY: [&str; 2] =
    ["GK31c2f218a2e44f485b94239e", "4420d99ef7aa26b56b5130ad7913a6a5c77653a5e7a47a3b4c9b8b9c5f8b7b4c"];

/// An S3 store for the tests.
pub struct ExternalS3;

impl Service for ExternalS3 {
    fn name(&self) -> &'static str {
        "an external S3 store"
    }

    fn provide(&self) -> Provided {
        if let Provided::Running(named) = named(|name| std::env::var(name).ok()) {
            return Provided::Running(named);
        }
        match start() {
            Ok(running) => Provided::Running(running),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    fn required_in_ci(&self) -> bool {
        false
    }
}

fn named(variable: impl Fn(&str) -> Option<String>) -> Provided {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match VARIABLES.into_iter().find(|name| set(name).is_none()) {
        Some(missing) => Provided::Absent { reason: format!("{missing} is not set") },
        None => {
            let environment = VARIABLES.map(|name| (name, set(name).unwrap_or_default())).to_vec();
            Provided::Running(Running { how: set(VARIABLES[0]).unwrap_or_default(), environment, _guard: None })
        }
    }
}

/// Starts Garage, which is never installed: `cargo install garage --locked` takes minutes.
fn start() -> anyhow::Result<Running> {
    let program = shell::find_program(PROGRAM)
        .with_context(|| format!("{} is not set, and no `{PROGRAM}` is on the PATH", VARIABLES.join(", ")))?;
    let version = shell::output(Command::new(&program).arg("--version"))?;
    let folder = tempfile::Builder::new().prefix("retrieval-garage-").tempdir()?;
    let [port, internal_port] = free_ports()?;
    let path = folder.path().display();
    let configuration = folder.path().join("garage.toml");
    let text = format!(
        "metadata_dir = \"{path}/meta\"\ndata_dir = \"{path}/data\"\ndb_engine = \"sqlite\"\nreplication_factor = 1\n\
         rpc_bind_addr = \"127.0.0.1:{internal_port}\"\nrpc_public_addr = \"127.0.0.1:{internal_port}\"\n\
         rpc_secret = \"{}\"\n[s3_api]\napi_bind_addr = \"127.0.0.1:{port}\"\ns3_region = \"us-east-1\"\n",
        "0".repeat(64)
    );
    std::fs::write(&configuration, text)?;
    let [key, secret] = KEY;
    let mut command = process::command(&program);
    command.arg("-c").arg(&configuration).args(["server", "--single-node", "--default-bucket"]);
    command.envs([
        ("GARAGE_DEFAULT_ACCESS_KEY", key),
        ("GARAGE_DEFAULT_SECRET_KEY", secret),
        ("GARAGE_DEFAULT_BUCKET", BUCKET),
    ]);
    let server = process::start(command, PROGRAM, port)?;
    let endpoint = format!("http://127.0.0.1:{port}");
    let values = [endpoint, key.to_owned(), secret.to_owned(), BUCKET.to_owned()];
    Ok(Running {
        how: format!("a private {version}"),
        environment: VARIABLES.into_iter().zip(values).collect(),
        _guard: Some(Box::new((server, folder))),
    })
}

#[cfg(test)]
mod tests {
    use super::{Provided, VARIABLES, named};

    #[test]
    fn the_first_missing_variable_is_named() {
        let all = |name: &str| Some(name.to_lowercase());
        assert!(matches!(named(all), Provided::Running(running) if running.how == "test_s3_endpoint"));
        let without_bucket = |name: &str| if name == VARIABLES[3] { Some(String::new()) } else { all(name) };
        assert!(matches!(
            named(without_bucket),
            Provided::Absent { reason } if reason == "TEST_S3_BUCKET is not set"
        ));
    }
}
