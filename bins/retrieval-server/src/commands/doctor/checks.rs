//! Checks of an installation. None of them creates, migrates or repairs anything.

use std::fs;
use std::future::Future;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use blobs::BlobStore;
use docstore::{Docstore, Location, StoreError};
use engine::SearchEngine;
use engine_tantivy::{IndexDirState, TantivyEngine};
use model::{Clock, SystemClock};
use models::embedding::TextKind;
use settings::{EmbedBackend, IndexBackend, Render, Settings, StorageBackend};
use web_providers::WebQuery;

use super::report::Finding;
use crate::rendering::Browser;
use crate::{compose, descriptors, disk, embedder, sandbox};

/// Time for one check.
const TIMEOUT: Duration = Duration::from_secs(10);

pub async fn all(settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![data_folder(settings)];
    findings.push(within("database", database(settings)).await);
    findings.push(within("index", index(settings)).await);
    findings.push(within("storage", storage(settings)).await);
    findings.push(within("sandbox", workers(settings)).await);
    findings.extend(renderer(settings).await);
    findings.extend(web_providers(settings).await);
    if settings.embed.backend != EmbedBackend::None {
        findings.push(within("embed", embedding_model(settings)).await);
    }
    findings.push(free_space(settings));
    findings.push(connections(settings));
    findings.extend(settings.warnings().into_iter().map(|warning| Finding::warning("settings", warning)));
    findings
}

/// Turns an error and a timeout of a check into a failure.
async fn within(check: &'static str, finding: impl Future<Output = anyhow::Result<Finding>>) -> Finding {
    match tokio::time::timeout(TIMEOUT, finding).await {
        Ok(Ok(finding)) => finding,
        Ok(Err(error)) => Finding::failed(check, format!("{error:#}")),
        Err(_) => Finding::failed(check, format!("no answer within {TIMEOUT:?}")),
    }
}

fn data_folder(settings: &Settings) -> Finding {
    let (check, folder) = ("data_folder", settings.data_dir.display());
    match fs::metadata(&settings.data_dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Finding::ok(check, format!("`{folder}` is created at the first start"))
        }
        Err(error) => Finding::failed(check, format!("`{folder}`: {error}")),
        Ok(metadata) if !metadata.is_dir() => Finding::failed(check, format!("`{folder}` is not a folder")),
        Ok(metadata) if metadata.mode() & 0o077 != 0 => {
            let mode = metadata.mode() & 0o7777;
            Finding::warning(
                check,
                format!("`{folder}` is open to other users (mode {mode:o}); the next start closes it"),
            )
        }
        Ok(_) => Finding::ok(check, format!("`{folder}`")),
    }
}

async fn database(settings: &Settings) -> anyhow::Result<Finding> {
    let (check, location) = ("database", compose::location(settings)?);
    if let Location::Sqlite(path) = &location
        && !path.try_exists()?
    {
        return Ok(Finding::ok(check, format!("`{}` is created at the first start", path.display())));
    }
    let store = Docstore::open(&location, 1)?;
    Ok(match (store.check_migrated().await, location) {
        (Ok(()), _) => {
            store.ping().await?;
            Finding::ok(check, "responds, with the tables of this version")
        }
        (Err(StoreError::NotMigrated { pending }), Location::Sqlite(_)) => {
            Finding::warning(check, format!("{pending} migrations are pending; the next start runs them"))
        }
        (Err(error), _) => return Err(error.into()),
    })
}

async fn index(settings: &Settings) -> anyhow::Result<Finding> {
    let check = "index";
    Ok(match settings.index.backend {
        IndexBackend::None => Finding::warning(check, "disabled: searches return 503"),
        IndexBackend::Embedded => match TantivyEngine::inspect(&compose::index_dir(settings))? {
            IndexDirState::Missing => Finding::ok(check, "is created at the first start"),
            IndexDirState::InUse => Finding::ok(check, "in use by a running server"),
            IndexDirState::Complete => Finding::ok(check, "complete"),
            IndexDirState::NeedsRebuild => Finding::warning(check, "the next start rebuilds it"),
        },
        IndexBackend::Meilisearch => {
            compose::meilisearch(settings)?.ping().await?;
            Finding::ok(check, "Meilisearch responds")
        }
    })
}

async fn storage(settings: &Settings) -> anyhow::Result<Finding> {
    let check = "storage";
    Ok(match settings.storage.backend {
        StorageBackend::S3 => {
            compose::external_storage(settings)?.ping().await?;
            Finding::ok(check, format!("bucket `{}` responds", settings.storage.bucket))
        }
        StorageBackend::Embedded => {
            let folder = compose::objects_dir(settings);
            match fs::read_dir(&folder) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    Finding::ok(check, "is created at the first start")
                }
                Err(error) => Finding::failed(check, format!("`{}`: {error}", folder.display())),
                Ok(_) => Finding::ok(check, format!("`{}`", folder.display())),
            }
        }
    })
}

/// Searches each web provider once. One that fails is a warning, since searches work without it.
async fn web_providers(settings: &Settings) -> Vec<Finding> {
    let check = "web_provider";
    let providers = match compose::web_sources(settings) {
        Ok(sources) => sources.providers,
        Err(error) => return vec![Finding::failed(check, format!("{error:#}"))],
    };
    let query = WebQuery { text: "test".to_owned(), ..WebQuery::default() };
    let findings = providers.into_iter().map(async |setup| {
        let name = setup.provider.name();
        match tokio::time::timeout(TIMEOUT, setup.provider.search(&query, SystemClock.now())).await {
            Ok(Ok(response)) => Finding::ok(check, format!("{name} responds with {} results", response.results.len())),
            Ok(Err(error)) => Finding::warning(check, format!("{name}: {error}")),
            Err(_) => Finding::warning(check, format!("{name}: no answer within {TIMEOUT:?}")),
        }
    });
    let findings: Vec<_> = findings.collect();
    futures_util::future::join_all(findings).await
}

/// Embeds a text. A model that fails is a warning, since searches work without it; one that cannot be loaded fails the start.
async fn embedding_model(settings: &Settings) -> anyhow::Result<Finding> {
    let check = "embed";
    let Some(embedder) = embedder::open(settings).await? else { return Ok(Finding::ok(check, "none")) };
    Ok(match embedder.embed(TextKind::Document, &["test".to_owned()]).await {
        Ok(vectors) => {
            let components = vectors.first().map_or(0, Vec::len);
            Finding::ok(check, format!("`{}` responds with vectors of {components} components", embedder.version()))
        }
        Err(error) => Finding::warning(check, format!("`{}`: {error}", embedder.version())),
    })
}

async fn workers(settings: &Settings) -> anyhow::Result<Finding> {
    let check = "sandbox";
    let (_, report) = sandbox::probe(settings).await?;
    Ok(match sandbox::refusal(settings.extract.sandbox, &report) {
        Some(reason) => Finding::failed(check, reason),
        None if report.is_confined() => Finding::ok(check, report.to_string()),
        None => Finding::warning(check, report.to_string()),
    })
}

/// Starts or joins the browser. `None` without rendering.
async fn renderer(settings: &Settings) -> Option<Finding> {
    if settings.fetch.render == Render::Off {
        return None;
    }
    let check = "renderer";
    let found = within(check, async {
        let browser = Browser::prepare(settings).await?;
        let product = browser.check(settings).await;
        browser.shutdown().await;
        Ok(Finding::ok(check, format!("{} responds", product?.unwrap_or_default())))
    });
    Some(found.await)
}

fn free_space(settings: &Settings) -> Finding {
    match disk::check(&settings.data_dir, settings.quotas.min_free_disk_bytes) {
        Ok(free) => Finding::ok("disk", free),
        Err(reason) => Finding::failed("disk", reason),
    }
}

/// Compares the connections with the limit of file descriptors of this command, which a server of another user or a
/// service manager may not share.
fn connections(settings: &Settings) -> Finding {
    let check = "connections";
    match descriptors::plan(settings, descriptors::limit()) {
        Ok(plan) if plan.lowered_by.is_none() => Finding::ok(check, plan.to_string()),
        Ok(plan) => Finding::warning(check, plan.to_string()),
        Err(error) => Finding::failed(check, error.to_string()),
    }
}
