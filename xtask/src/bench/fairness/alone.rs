//! Bystander without any other tenant: the noise of the machine.

use super::stage::{self, Stage};
use super::{FEW_DOCUMENTS, Scenario};

pub const SCENARIO: Scenario =
    Scenario { name: "alone", about: "the bystander alone, twice: the noise of the machine", measure };

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let time = stage.time();
    stage.measure(&server, &[setup.search_probe()], || stage::sleep(time))
}
