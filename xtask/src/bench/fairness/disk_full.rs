//! Searches and uploads on a full disk.

use super::stage::{self, Stage};
use super::{Scenario, setup::Setup};
use crate::bench::installation::Installation;
use crate::bench::workspace::{File, Workspace};
use crate::shell;
use anyhow::Context;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub const SCENARIO: Scenario = Scenario {
    name: "disk-full",
    about: "searches and uploads on a full disk (needs the right to mount one)",
    measure,
};

/// Size of the disk.
const DISK: &str = "size=256m";
const DOCUMENTS: usize = 2_000;
/// Free space below which the server reports that it is not ready.
const MIN_FREE: (&str, &str) = ("RETRIEVAL__QUOTAS__MIN_FREE_DISK_BYTES", "33554432");
/// Time in which the server notices a change of the free space.
const NOTICE: Duration = Duration::from_secs(15);

/// Disk in memory, unmounted on drop.
struct Disk {
    folder: PathBuf,
}

impl Disk {
    fn mount(folder: PathBuf) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        shell::output(Command::new("mount").args(["-t", "tmpfs", "-o", DISK, "tmpfs"]).arg(&folder))?;
        Ok(Self { folder })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Err(error) = shell::output(Command::new("umount").arg("--lazy").arg(&self.folder)) {
            eprintln!("warning: `{}` remains mounted: {error:#}", self.folder.display());
        }
    }
}

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    // Only the data folder is on the disk, not the server's log.
    let installation = Installation::new(stage.program)?;
    let disk = match Disk::mount(installation.data()) {
        Ok(disk) => disk,
        Err(error) => {
            eprintln!("  disk-full was NOT measured: {error:#}");
            stage.line.skipped = Some("no disk could be mounted".to_owned());
            return Ok(());
        }
    };
    let setup = stage.set_up_in(installation, DOCUMENTS)?;
    let measured = measure_on(&disk, &setup, stage);
    // Before the folder of the installation is removed.
    drop(disk);
    measured
}

fn measure_on(disk: &Disk, setup: &Setup, stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let server = setup.installation.serve_with(&[MIN_FREE])?;
    let filler = disk.folder.join("filler");
    let time = stage.time();
    let (ready, uploaded) = stage.measure(&server, &[setup.search_probe()], || {
        fill(&filler)?;
        let ready = await_readiness(setup, false)?;
        let uploaded = upload(setup).is_ok();
        stage::sleep(time)?;
        Ok((ready, uploaded))
    })?;
    std::fs::remove_file(&filler)?;
    let recovered = await_readiness(setup, true)?;
    let found = setup.installation.client(&setup.bystander).call("/v1/search", &json!({"query": setup.queries[0]}));
    stage.section.number("ready while the disk is full", f64::from(ready)).target_below(1.0);
    stage.section.number("uploads accepted while the disk is full", f64::from(uploaded)).target_below(1.0);
    stage.section.number("ready afterwards", f64::from(recovered)).target_at_least(1.0);
    stage.section.number("searches answered afterwards", f64::from(found.is_ok())).target_at_least(1.0);
    stage.section.number("uploads accepted afterwards", f64::from(upload(setup).is_ok())).target_at_least(1.0);
    Ok(())
}

/// Writes until nothing fits.
fn fill(path: &Path) -> anyhow::Result<()> {
    let mut file = std::fs::File::create(path).with_context(|| format!("cannot create `{}`", path.display()))?;
    for size in [1 << 20, 4 << 10] {
        let block = vec![1; size];
        while file.write_all(&block).is_ok() {}
    }
    Ok(())
}

fn upload(setup: &Setup) -> anyhow::Result<()> {
    let file = File { name: "line.txt".to_owned(), bytes: b"One line.".to_vec() };
    Workspace::of(&setup.installation, setup.bystander.clone()).upload(&[file], 1).map(drop)
}

/// Waits until the server reports `expected`, and returns the last report.
fn await_readiness(setup: &Setup, expected: bool) -> anyhow::Result<bool> {
    let begun = Instant::now();
    loop {
        let ready = setup.installation.operations().get("/readyz").is_ok();
        if ready == expected || begun.elapsed() > NOTICE {
            return Ok(ready);
        }
        stage::sleep(Duration::from_millis(100))?;
    }
}
