//! A disk that becomes full and is freed again: a small file system in memory, which needs root and is else not tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Database, Server, put, until};

const SIZE: &str = "size=96m,mode=700";
const RECOVERY: Duration = Duration::from_secs(60);

/// File system in memory, unmounted on drop.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: &Path) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder.to_owned()));
        }
        println!("NOT RUN: no permission to mount a small file system");
        None
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }

    /// Leaves this many bytes free.
    fn fill(&self, free: u64) {
        self.free();
        let status = rustix::fs::statvfs(&self.0).unwrap();
        let available = status.f_bavail * status.f_frsize;
        // The server may take the last bytes first.
        let _ = fs::write(self.ballast(), vec![1; usize::try_from(available.saturating_sub(free)).unwrap()]);
    }

    fn free(&self) {
        let _ = fs::remove_file(self.ballast());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

fn start(min_free: u64) -> Option<(Server, SmallDisk)> {
    let settings = format!("[quotas]\nmin_free_disk_bytes = {min_free}\n");
    let mut server = Server::prepare(Database::sqlite(), &settings);
    let disk = SmallDisk::mount(&server.data_folder())?;
    server.resume();
    Some((server, disk))
}

fn is_ready(server: &Server) -> bool {
    Client::new(&server.operations(), None, uuid::Uuid::nil()).get("/readyz").status == 200
}

fn total(client: &Client) -> Value {
    client.search_workspace("walrus")["integration_results"]["total"].clone()
}

/// Uploads files until `stop`; returns those that were acknowledged, with their states.
fn upload(client: &Client, names: impl Iterator<Item = usize>) -> Vec<String> {
    names
        .filter_map(|n| {
            let text = format!("The walrus {n} eats clams. {}", "Filler. ".repeat(2_000));
            let name = format!("{n}.txt");
            let presigned = client.presign(&name, text.len());
            if presigned.status != 200 {
                assert!(presigned.status >= 500, "{presigned:#?}");
                return None;
            }
            let stored = put(presigned.json()["url"].as_str().unwrap(), text.as_bytes());
            assert!(stored.status == 200 || stored.status >= 500, "{stored:#?}");
            (stored.status == 200).then_some(name)
        })
        .collect()
}

#[test]
fn low_disk_refuses_new_work_and_recovers() {
    let Some((server, disk)) = start(32 << 20) else { return };
    let client = server.tenant("acme");
    let kept = upload(&client, 0..10);
    assert_eq!(client.index()["stats"]["indexed"], kept.len());
    disk.fill(8 << 20);
    until("the server is not ready", RECOVERY, || (!is_ready(&server)).then_some(()));
    until("uploads are refused", RECOVERY, || (client.presign("a.txt", 10).status == 507).then_some(()));
    assert_eq!(client.post("/v1/files/index", &json!({})).status, 507);
    assert_eq!(total(&client), kept.len(), "searches continue");
    disk.free();
    until("the server is ready", RECOVERY, || is_ready(&server).then_some(()));
    until("uploads are served", RECOVERY, || (client.presign("a.txt", 10).status == 200).then_some(()));
    let more = upload(&client, 10..20);
    assert_eq!(more.len(), 10);
    client.index();
    assert_eq!(total(&client), 20);
}

/// Files of more than a megabyte are indexed by way of the disk.
#[test]
fn run_with_a_large_file_waits_for_room() {
    let Some((server, disk)) = start(0) else { return };
    let client = server.tenant("acme");
    client.upload("large.txt", "The walrus eats clams.\n\n".repeat(100_000));
    disk.fill(1 << 20);
    let started = client.post("/v1/files/index", &json!({}));
    assert_eq!(started.status, 202, "{started:#?}");
    until("the run waits", RECOVERY, || server.log().contains("the disk is full").then_some(()));
    disk.free();
    let run = client.finish_run(started.json()["sync_id"].as_str().unwrap());
    assert_eq!((&run["state"], &run["stats"]["indexed"]), (&json!("completed"), &json!(1)), "{run:#}");
}

/// Nothing warns: every write fails until there is room again.
#[test]
fn full_disk_loses_nothing_acknowledged() {
    let Some((mut server, disk)) = start(0) else { return };
    let client = server.tenant("acme");
    let mut kept = upload(&client, 0..20);
    assert_eq!(client.index()["stats"]["indexed"], kept.len());
    for round in 1..=3_usize {
        kept.extend(upload(&client, round * 100..round * 100 + 10));
        // The run begins on a disk with little room, and goes on on a full one.
        disk.fill(400 << 10);
        let started = client.post("/v1/files/index", &json!({ "mode": "incremental" }));
        assert!(started.status == 202 || started.status >= 500, "{started:#?}");
        disk.fill(0);
        kept.extend(upload(&client, round * 100 + 10..round * 100 + 20));
        let found = client.search("walrus", json!({ "scope": client.workspace_scope() }));
        assert_eq!(found.status, 200, "searches continue: {found:#?}");
        std::thread::sleep(Duration::from_secs(2));
        if round == 2 {
            // Also across a restart, once there is room.
            server.kill();
            disk.free();
            server.resume();
        }
        disk.free();
        if started.status == 202 {
            let run = client.finish_run(started.json()["sync_id"].as_str().unwrap());
            assert_eq!(run["state"], "completed", "the run was acknowledged: {run:#}");
        }
        until("work is accepted", RECOVERY, || (client.presign("x.txt", 10).status == 200).then_some(()));
        let run = client.index();
        assert_eq!((&run["state"], &run["stats"]["failed"]), (&json!("completed"), &json!(0)), "{run:#}");
        let names = client.file_names();
        let lost: Vec<&String> = kept.iter().filter(|name| !names.contains(name)).collect();
        assert!(lost.is_empty(), "{lost:?}");
        until("everything is found", RECOVERY, || (total(&client) == names.len()).then_some(()));
    }
    assert_eq!(server.stop().code(), Some(0));
    let verified = server.command(&["verify"]);
    assert_eq!(verified.code(), Some(0), "{verified:#?}");
}
