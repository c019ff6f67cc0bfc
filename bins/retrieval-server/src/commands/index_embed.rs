//! `index embed`: fills in the vectors of the configured model.

use anyhow::bail;
use indicatif::ProgressBar;
use ingest::embed::Filler;
use serde_json::json;
use settings::Settings;

use crate::{data_folder, embedder, output};

pub async fn run(prune: bool, settings: &Settings) -> anyhow::Result<()> {
    let Some(embedder) = embedder::open(settings).await? else {
        bail!("`embed.backend` = `none`: configure the model to embed documents with");
    };
    let store = data_folder::open_existing(settings).await?;
    let model = embedder.version().to_owned();
    let clock = store.clock();
    let filler = Filler::new(store, embedder, clock);
    let progress = ProgressBar::new(filler.missing().await?);
    let filled = filler.fill(|documents| progress.inc(documents as u64)).await?;
    progress.finish_and_clear();
    let calibration = filler.calibrate().await;
    if let Err(error) = &calibration {
        tracing::warn!(error = error as &dyn std::error::Error, "the quality of the model cannot be measured");
    }
    let calibration = calibration.ok();
    let pruned = if prune { filler.prune().await? } else { 0 };
    output::json(&json!({
        "model": model,
        "meaning": calibration.map(|calibration| calibration.meaning.best()),
        "repetition": calibration.map(|calibration| calibration.repetition),
        "documents": filled.documents,
        "passages": filled.passages,
        "pruned": pruned,
    }));
    Ok(())
}
