//! Scenarios by name.

mod copying;
mod first_answer;
mod foreign_key;
mod forgotten_key;
mod hostile;
mod keyboard;
mod keys;
mod many_files;
mod modules;
mod outage;
mod reading;
mod research;
mod revoked;
mod searching;
mod uploads;
mod views;
mod web;
mod wide;

use anyhow::bail;

use crate::stage::Stage;

pub const NAMES: [&str; 18] = [
    "first-answer",
    "uploads",
    "copying",
    "views",
    "searching",
    "wide",
    "reading",
    "web",
    "research",
    "keyboard",
    "keys",
    "hostile-document",
    "revoked-key",
    "foreign-key",
    "forgotten-key",
    "outage",
    "many-files",
    "modules",
];

pub async fn run(name: &str, stage: &mut Stage) -> anyhow::Result<()> {
    match name {
        "first-answer" => first_answer::run(stage).await,
        "uploads" => uploads::run(stage).await,
        "copying" => copying::run(stage).await,
        "views" => views::run(stage).await,
        "searching" => searching::run(stage).await,
        "wide" => wide::run(stage).await,
        "reading" => reading::run(stage).await,
        "web" => web::run(stage).await,
        "research" => research::run(stage).await,
        "keyboard" => keyboard::run(stage).await,
        "keys" => keys::run(stage).await,
        "hostile-document" => hostile::run(stage).await,
        "revoked-key" => revoked::run(stage).await,
        "foreign-key" => foreign_key::run(stage).await,
        "forgotten-key" => forgotten_key::run(stage).await,
        "outage" => outage::run(stage).await,
        "many-files" => many_files::run(stage).await,
        "modules" => modules::run(stage).await,
        _ => bail!("there is no scenario `{name}`"),
    }
}

/// Texts of the uploaded files.
pub const TIDES: &str = "# Tides of the coast\n\nThe moon moves the tides, twice a day, on every coast. The sun adds to it: at new \
     moon and full moon both pull in one line.\n\n## Heights\n\nIn the Bay of Fundy the water rises by up to 16 metres, in the \
     Mediterranean by a few centimetres.\n\n| Place | Range |\n|---|---|\n| Bay of Fundy | 16 m |\n| Mediterranean | 0.3 m |\n\n\
     ## Timing\n\nHigh water comes about **50 minutes later** each day. See [the almanac](https://example.com/almanac).\n";

pub const HANDBOOK: &str = "# Handbook\n\n## Vacation\n\nEvery employee has 28 days of vacation per year.\n\n## Expenses\n\nTravel \
     expenses are refunded within two weeks.\n";
