//! Idle connections without a key to the API and to the object store of a server with few descriptors.

use super::probe::Probe;
use super::setup::Setup;
use super::stage::{self, Stage};
use super::{FEW_DOCUMENTS, Scenario};
use crate::bench::client::Client;
use crate::bench::descriptors;
use crate::bench::workspace::{File, Workspace};
use serde_json::json;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub const SCENARIO: Scenario = Scenario {
    name: "idle-connections",
    about: "1,100 idle connections each to the API and the storage port of a server started with 1,024 descriptors",
    measure,
};

const CONNECTIONS: usize = 1_100;
const DESCRIPTORS: u64 = 1_024;
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Consecutive failures after which no more connections are opened.
const FAILURES: usize = 10;
const INTERVAL: Duration = Duration::from_millis(200);

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = descriptors::limited(DESCRIPTORS, || setup.installation.serve())?;
    let (count, time) = (stage.scaled(CONNECTIONS), stage.time());
    let probes = probes(&setup);
    let [api, storage] = stage.measure(&server, &probes, || {
        let ports = [setup.installation.api(), setup.installation.storage()];
        let connections = ports.map(|port| open(port, count));
        stage::sleep(time)?;
        Ok(connections.map(|connections| connections.len()))
    })?;
    stage.section.count("connections opened to the API", api).count("connections opened to the storage port", storage);
    Ok(())
}

/// Returns probes that open a connection for each request.
fn probes(setup: &Setup) -> [Probe<'_>; 3] {
    let search = |_: &Client, number: usize| {
        let query = &setup.queries[number % setup.queries.len()];
        setup.installation.client(&setup.bystander).call("/v1/search", &json!({"query": query})).map(drop)
    };
    let upload = |_: &Client, number: usize| {
        let file = File { name: format!("{number}.txt"), bytes: b"One line.".to_vec() };
        Workspace::of(&setup.installation, setup.bystander.clone()).upload(&[file], 1).map(drop)
    };
    let ready = |_: &Client, _| setup.installation.operations().get("/readyz").map(drop);
    [
        Probe::new("search", INTERVAL, setup.clients(), search),
        Probe::new("upload", INTERVAL, setup.clients(), upload),
        Probe::new("readyz", INTERVAL, setup.clients(), ready),
    ]
}

fn open(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut open = Vec::with_capacity(count);
    let mut failures = 0;
    while open.len() < count && failures < FAILURES {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(connection) => {
                open.push(connection);
                failures = 0;
            }
            Err(_) => failures += 1,
        }
    }
    open
}
