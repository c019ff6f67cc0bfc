//! Limits of connections and file descriptors.

use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::support::{Database, Server};

/// Opens connections that send nothing.
fn idle(address: &str, count: usize) -> Vec<TcpStream> {
    (0..count).map(|_| TcpStream::connect(address).unwrap()).collect()
}

#[test]
fn idle_connections_beyond_the_descriptors_stop_nothing() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let mut server = Server::prepare(Database::sqlite(), "");
    server.descriptors = Some(1024);
    server.resume();
    assert!(server.log().contains("because only 1024 file descriptors are allowed"), "{}", server.log());
    let client = server.tenant("acme");
    let base = server.base();
    let _api = idle(base.strip_prefix("http://").unwrap(), 1100);
    let _storage = idle(&server.storage_address(), 1100);
    let _operations = idle(server.operations().strip_prefix("http://").unwrap(), 200);
    assert_eq!(client.search("x", json!({})).status, 200);
    client.upload("a.txt", "The tides.");
    assert_eq!(client.index()["stats"]["indexed"], 1);
    let ready = ureq::get(format!("{}/readyz", server.operations())).config().proxy(None).build().call().unwrap();
    assert_eq!(ready.status(), 200);
}

#[test]
fn connections_of_the_settings_that_do_not_fit_are_refused() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let settings = std::fs::read_to_string(server.settings_file()).unwrap();
    let settings = settings.replace("[server]\n", "[server]\nmax_connections = 5000\n");
    std::fs::write(server.settings_file(), settings).unwrap();
    server.descriptors = Some(1024);
    for command in [&["config", "check"][..], &["serve"]] {
        let refused = server.command(command);
        assert_eq!(refused.code(), Some(1), "{refused:#?}");
        assert!(refused.stderr.contains("the limit of 1024 file descriptors is too low"), "{refused:#?}");
        assert!(refused.stderr.contains("or lower `server.max_connections`"), "{refused:#?}");
    }
    server.descriptors = None;
    assert_eq!(server.command(&["config", "check"]).object(), json!({"valid": true}));
}
