//! 64 clients that request a document of 12.5 MB and do not read the response.

use super::setup::Setup;
use super::stage::Stage;
use super::{FEW_DOCUMENTS, Scenario, texts};
use crate::bench::workspace::Workspace;
use crate::bench::{check_interrupt, process};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub const SCENARIO: Scenario = Scenario {
    name: "unread-answers",
    about: "64 clients that request a document of 12.5 MB and do not read the response",
    measure,
};

const DOCUMENT_BYTES: usize = 12_500_000;
const CLIENTS: usize = 64;
/// Time after which the connections count as open forever.
const LIMIT: Duration = Duration::from_secs(100);
const CLOSED_S: f64 = 90.0;
/// Variation of the server's other sockets.
const OTHER_SOCKETS: usize = 4;
const POLL: Duration = Duration::from_millis(100);

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let workspace = Workspace::of(&setup.installation, setup.heavy.clone());
    stage.step("uploading and indexing the document");
    let id = texts::document(&workspace, stage.options.seed, DOCUMENT_BYTES)?;
    let request = setup.request(&setup.heavy, "/v1/document", &json!({"doc_id": id}));
    let clients = stage.scaled(CLIENTS);
    let load = || abandon(&setup, &request, clients, server.pid());
    let (open, took) = stage.measure(&server, &[setup.search_probe()], load)?;
    stage.section.count("clients", clients).count("connections open at the end", open);
    stage.section.seconds("s until the server closed them", took).target_below(CLOSED_S);
    Ok(())
}

/// Returns the number of connections that the server keeps open, and the time until it closed all of them.
fn abandon(setup: &Setup, request: &[u8], clients: usize, pid: u32) -> anyhow::Result<(usize, Duration)> {
    let before = process::sockets(pid)?;
    let begun = Instant::now();
    let mut connections = Vec::with_capacity(clients);
    for _ in 0..clients {
        let mut connection = TcpStream::connect(setup.installation.api())?;
        connection.write_all(request)?;
        connections.push(connection);
    }
    // The server sees the requests before it may close the first connection.
    super::stage::sleep(Duration::from_secs(1))?;
    let mut open = clients;
    while begun.elapsed() < LIMIT {
        check_interrupt()?;
        // A client cannot see the end of a connection behind a response that it does not read.
        open = process::sockets(pid)?.saturating_sub(before);
        if open <= OTHER_SOCKETS {
            break;
        }
        std::thread::sleep(POLL);
    }
    let took = begun.elapsed();
    drop(connections);
    Ok((open, took))
}
