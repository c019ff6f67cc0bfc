//! Indexing runs of slow files in two organizations beside a run of one line in a third.

use super::stage::Stage;
use super::{FEW_DOCUMENTS, Scenario, slow_pdf};
use crate::bench::workspace::{File, Workspace};
use std::time::{Duration, Instant};

pub const SCENARIO: Scenario = Scenario {
    name: "slow-runs",
    about: "three slow files in each of two organizations, and a text file of one line in a third",
    measure,
};

const SLOW_FILES: usize = 3;
/// Runs of one line before the load.
const RUNS: usize = 3;
/// Limit of a small run beside slow ones.
const RUN_S: f64 = 10.0;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let small = Workspace::of(&setup.installation, setup.bystander.clone());
    let heavy = [Workspace::of(&setup.installation, setup.heavy.clone()), Workspace::new(&setup.installation)?];
    let mut alone = Duration::ZERO;
    for number in 0..RUNS {
        alone = alone.max(index_line(&small, number)?);
    }
    let slow = slow_pdf::bytes();
    for workspace in &heavy {
        let file = |number| File { name: format!("slow {number}.pdf"), bytes: slow.clone() };
        workspace.upload(&(0..SLOW_FILES).map(file).collect::<Vec<_>>(), 1)?;
    }
    let time = stage.time();
    let beside = stage.measure(&server, &[setup.search_probe()], || {
        for workspace in &heavy {
            workspace.start_run("incremental")?;
        }
        let (begun, mut slowest, mut number) = (Instant::now(), Duration::ZERO, RUNS);
        while slowest.is_zero() || begun.elapsed() < time {
            slowest = slowest.max(index_line(&small, number)?);
            number += 1;
        }
        Ok(slowest)
    })?;
    stage.section.seconds("s, slowest run of one line alone", alone);
    stage.section.seconds("s, slowest run of one line beside", beside).target_below(RUN_S);
    Ok(())
}

/// Uploads and indexes a new file of one line.
fn index_line(workspace: &Workspace<'_>, number: usize) -> anyhow::Result<Duration> {
    let file = File { name: format!("line {number}.txt"), bytes: format!("Line {number}.").into_bytes() };
    workspace.upload(&[file], 1)?;
    Ok(workspace.index("incremental", || ())?.took)
}
