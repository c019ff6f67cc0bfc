//! Sandbox of extraction workers on systems that lack parts of it.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::lacking::{Lacking, on_a_system};
use crate::support::{Client, Database, SANDBOX, Server};

const BEST_EFFORT: &str = "[extract]\nsandbox = \"best_effort\"\n";

fn sandbox_of(server: &Server) -> Value {
    let ready = Client::new(&server.operations(), None, Uuid::nil()).get("/readyz").ok();
    let dependencies = ready["dependencies"].as_array().unwrap();
    dependencies.iter().find(|one| one["name"] == "sandbox").unwrap().clone()
}

/// Indexes one file and returns the counters of the run.
fn index_a_file(server: &Server) -> Value {
    let client = server.tenant("acme");
    client.upload("a.txt", "The walrus eats clams.");
    client.index()["stats"].clone()
}

/// Returns the finding of `doctor` about the sandbox, and the exit status.
fn diagnose(server: &Server) -> (Value, Option<i32>) {
    let done = server.command(&["doctor", "--json"]);
    let findings: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (findings.into_iter().find(|finding| finding["check"] == "sandbox").unwrap(), done.code())
}

/// Many containers have no landlock, and all of them have seccomp.
#[test]
fn service_runs_with_defaults_where_only_landlock_is_missing() {
    on_a_system(Lacking::Landlock, || {
        let server = Server::start(Database::sqlite());
        assert_eq!(index_a_file(&server)["indexed"], 1);
        let sandbox = sandbox_of(&server);
        assert_eq!((&sandbox["state"], &sandbox["required"]), (&json!("up"), &json!(false)));
        assert!(sandbox["detail"].as_str().unwrap().contains("missing: landlock"), "{sandbox}");
        assert!(server.log().contains("missing: landlock"), "{}", server.log());
        let (finding, code) = diagnose(&server);
        assert_eq!((&finding["status"], code), (&json!("pass"), Some(0)), "{finding}");
    });
}

#[test]
fn server_refuses_to_start_without_a_sandbox() {
    if std::env::var_os(SANDBOX).is_some() {
        println!("NOT RUN: {SANDBOX} is set");
        return;
    }
    on_a_system(Lacking::LandlockAndSeccomp, || {
        let server = Server::prepare(Database::sqlite(), "");
        for arguments in [&["serve"][..], &["web", "import", "-"]] {
            let refused = server.command(arguments);
            assert_eq!(refused.code(), Some(1), "{refused:#?}");
            for named in ["files, network, programs", "landlock, seccomp", "extract.sandbox = \"best_effort\""] {
                assert!(refused.stderr.contains(named), "{}", refused.stderr);
            }
        }
        let (finding, code) = diagnose(&server);
        assert_eq!((&finding["status"], code), (&json!("fail"), Some(1)), "{finding}");
    });
}

#[test]
fn accepted_lack_of_a_sandbox_is_reported_everywhere() {
    on_a_system(Lacking::LandlockAndSeccomp, || {
        let server = Server::start_with(Database::sqlite(), BEST_EFFORT);
        assert_eq!(index_a_file(&server)["indexed"], 1);
        let sandbox = sandbox_of(&server);
        assert_eq!((&sandbox["state"], &sandbox["required"]), (&json!("down"), &json!(false)));
        assert!(sandbox["detail"].as_str().unwrap().contains("files, network, programs"), "{sandbox}");
        let log = server.log();
        assert!(log.lines().any(|line| line.contains("WARN") && line.contains("NOT confined")), "{log}");
        let (finding, code) = diagnose(&server);
        assert_eq!((&finding["status"], code), (&json!("warn"), Some(0)), "{finding}");
    });
}
