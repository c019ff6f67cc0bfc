//! Checks of each dependency, without changing anything.

use std::fs;
use std::time::Duration;

use anyhow::{Context, bail};
use app::clock::to_date_time;
use app::search::SecondStage;
use blobs::BlobStore;
use docstore::{Docstore, Location, StoreError};
use engine::SearchEngine;
use engine_tantivy::{IndexDirState, TantivyEngine};
use model::{Clock, SystemClock};
use models::ModelError;
use models::embedding::TextKind;
use models::generation::GenerationRequest;
use rate_limit::SharedCounter;
use settings::{IndexBackend, Render, Settings, StorageBackend};
use web_providers::WebQuery;

use super::report::Finding;
use super::{TIMEOUT, within};
use crate::rendering::Browser;
use crate::{compose, embedder, message_language, traces};

/// Interval of looks at the connection to Redis, which is established in the background.
const LOOK: Duration = Duration::from_millis(50);

/// Time of Meilisearch for one document, above which each task probably clears too much memory. With limited memory it is below 0.1 s.
const SLOW_TASK: Duration = Duration::from_millis(300);

pub async fn database(settings: &Settings) -> Finding {
    let check = "database";
    let hint = "compare `database.url` with the address, the name and the credentials of a running database";
    let probe = async {
        let location = compose::location(settings)?;
        if let Location::Sqlite(path) = &location
            && !path.try_exists()?
        {
            return Ok(Finding::pass(check, format!("`{}` is created at the first start", path.display())));
        }
        let store = Docstore::open(&location, 1)?;
        Ok(match (store.check_migrated().await, location) {
            (Ok(()), _) => {
                store.ping().await?;
                match message_language::problem(&store).await? {
                    Some(problem) => Finding::warn(check, problem, message_language::HINT),
                    None => Finding::pass(check, "responds, with the tables of this version"),
                }
            }
            (Err(StoreError::NotMigrated { pending }), Location::Sqlite(_)) => {
                let detail = format!("{pending} migrations are pending");
                Finding::warn(check, detail, "the next start of the server runs them")
            }
            (Err(error @ StoreError::NotMigrated { .. }), Location::Postgres(_)) => {
                Finding::fail(check, error.to_string(), "run `retrieval-server migrate`")
            }
            (Err(error), _) => return Err(error.into()),
        })
    };
    within(check, hint, probe).await
}

pub async fn index(settings: &Settings) -> Finding {
    let check = "index";
    let hint = match settings.index.backend {
        IndexBackend::Meilisearch => {
            "compare `index.url` and `index.api_key` with a running Meilisearch; docs/operations.md lists the actions that the key \
             needs"
        }
        IndexBackend::Qdrant => {
            "compare `index.url` (the gRPC port, 6334) and `index.api_key` with a running Qdrant; docs/operations.md lists the \
             access that the key needs"
        }
        IndexBackend::Embedded | IndexBackend::None => "run `retrieval-server index rebuild`",
    };
    let probe = async {
        Ok(match settings.index.backend {
            IndexBackend::None => Finding::warn(
                check,
                "disabled: indexing runs and searches of files return 503, web searches need `web.providers`",
                "set `index.backend`, unless this is on purpose",
            ),
            IndexBackend::Embedded => match TantivyEngine::inspect(&compose::index_dir(settings))? {
                IndexDirState::Missing => Finding::pass(check, "is created at the first start"),
                IndexDirState::InUse => Finding::pass(check, "in use by a running server"),
                IndexDirState::Complete => Finding::pass(check, "complete"),
                IndexDirState::NeedsRebuild => {
                    Finding::warn(check, "incomplete", "the next start of the server rebuilds it")
                }
            },
            IndexBackend::Meilisearch => {
                let engine = compose::meilisearch(settings)?;
                engine.ping().await?;
                match engine.task_time().await? {
                    Some(time) if time > SLOW_TASK => Finding::warn(
                        check,
                        format!("Meilisearch responds, but takes {} ms to index one document", time.as_millis()),
                        "start Meilisearch with MEILI_MAX_INDEXING_MEMORY=1GiB: it clears a part of that memory for every task",
                    ),
                    Some(_) | None => Finding::pass(check, "Meilisearch responds"),
                }
            }
            IndexBackend::Qdrant => {
                compose::qdrant(settings)?.ping().await?;
                Finding::pass(check, "Qdrant responds")
            }
        })
    };
    within(check, hint, probe).await
}

pub async fn storage(settings: &Settings) -> Finding {
    let check = "storage";
    let hint = match settings.storage.backend {
        StorageBackend::S3 => {
            "compare `storage.endpoint`, `storage.region`, `storage.bucket` and both keys with a running object store"
        }
        StorageBackend::Embedded => "`data_dir` must be a folder that the account of the server may write",
    };
    let probe = async {
        Ok(match settings.storage.backend {
            StorageBackend::S3 => {
                compose::external_storage(settings)?.ping().await?;
                Finding::pass(check, format!("bucket `{}` responds", settings.storage.bucket))
            }
            StorageBackend::Embedded => {
                let folder = compose::objects_dir(settings);
                match fs::read_dir(&folder) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        Finding::pass(check, "is created at the first start")
                    }
                    Err(error) => Finding::fail(check, format!("`{}`: {error}", folder.display()), hint),
                    Ok(_) => Finding::pass(check, format!("`{}`", folder.display())),
                }
            }
        })
    };
    within(check, hint, probe).await
}

/// Spends a token of a key that nobody has.
pub async fn rate_limit(settings: &Settings) -> Option<Finding> {
    let check = "rate_limit";
    let hint = "compare `rate_limit.url` with the address and the password of a running Redis";
    let limiter = match compose::limiter(settings) {
        Ok(limiter) => limiter,
        Err(error) => return Some(Finding::fail(check, format!("{error:#}"), hint)),
    };
    limiter.shared_counter()?;
    let probe = async {
        let mut is_counted = false;
        loop {
            match limiter.shared_counter() {
                Some(SharedCounter::Down(reason)) => bail!("Redis: {reason}"),
                Some(SharedCounter::Up) if is_counted => return Ok(Finding::pass(check, "Redis responds")),
                Some(SharedCounter::Up) => {
                    limiter.take("doctor", 1_000, to_date_time(SystemClock.now())).await.context("Redis")?;
                    is_counted = true;
                }
                Some(SharedCounter::Connecting) | None => tokio::time::sleep(LOOK).await,
            }
        }
    };
    Some(within(check, hint, probe).await)
}

/// Ranks one text. A failure is a warning, since searches work without the model.
pub async fn reranker(settings: &Settings) -> Option<Finding> {
    let (check, hint) =
        ("reranker", "compare `rerank.url`, `rerank.model` and `rerank.api_key` with a running endpoint");
    let model = match compose::second_stage(settings) {
        Ok(SecondStage::Model(model)) => model,
        Ok(SecondStage::Lexical | SecondStage::None) => return None,
        Err(error) => return Some(Finding::fail(check, format!("{error:#}"), hint)),
    };
    Some(match model.score("tides", &["The moon moves the tides.".to_owned()]).await {
        Ok(_) => Finding::pass(check, format!("{} responds", model.version())),
        Err(error) => Finding::warn(check, error_causes::describe(&error), hint),
    })
}

/// Measures the embedding model. One that fails is a warning, since searches work without it; one that cannot be loaded fails the start.
pub async fn embedder(settings: &Settings) -> Option<Finding> {
    let (check, hint) =
        ("embed", "compare `embed.dir`, or `embed.url`, `embed.model` and `embed.api_key`, with a model");
    let model = match embedder::open(settings).await {
        Ok(model) => model?,
        Err(error) => return Some(Finding::fail(check, format!("{error:#}"), hint)),
    };
    // Measuring retries for a while; a model that does not answer at all is told at once.
    let measured = match model.embed(TextKind::Document, &["The moon moves the tides.".to_owned()]).await {
        Ok(_) => ingest::embed::measure(model.as_ref()).await,
        Err(error) => Err(error),
    };
    Some(match measured {
        Ok(quality) => {
            let detail = format!(
                "{} responds with vectors of {} components, meaning {:.1}, repetition {:.1}",
                model.version(),
                model.dimensions().unwrap_or_default(),
                quality.meaning.best(),
                quality.repetition,
            );
            if quality.knows_meaning() {
                Finding::pass(check, detail)
            } else {
                Finding::warn(check, detail, "searches count this model little (docs/semantic.md): choose another one")
            }
        }
        Err(error) => Finding::warn(check, error_causes::describe(&error), hint),
    })
}

/// Starts or joins the browser. `None` without rendering.
pub async fn renderer(settings: &Settings) -> Option<Finding> {
    if settings.fetch.render == Render::Off {
        return None;
    }
    let (check, hint) = ("renderer", "install Chromium, or compare `fetch.chromium_url` with a running browser");
    let found = within(check, hint, async {
        let browser = Browser::prepare(settings).await?;
        let product = browser.check(settings).await;
        browser.shutdown().await;
        Ok(Finding::pass(check, format!("{} responds", product?.unwrap_or_default())))
    });
    Some(found.await)
}

/// Generates a word. A failure is a warning, since research reports are extractive without the model.
pub async fn generator(settings: &Settings) -> Option<Finding> {
    let (check, hint) =
        ("generator", "compare `generate.url`, `generate.model` and `generate.api_key` with a running endpoint");
    let model = match compose::generator(settings) {
        Ok(model) => model?,
        Err(error) => return Some(Finding::fail(check, format!("{error:#}"), hint)),
    };
    let user = "Answer with one word: what moves the tides?".to_owned();
    // A model that reasons needs more than the few tokens of the answer.
    let request = GenerationRequest { user, max_tokens: model.max_tokens(), ..GenerationRequest::default() };
    Some(match model.generate(&request).await {
        Ok(_) => Finding::pass(check, format!("{} responds", model.id())),
        Err(error @ ModelError::Empty { truncated: true, .. }) => {
            let hint = "raise `generate.max_tokens`: the model's reasoning counts, too";
            Finding::warn(check, error_causes::describe(&error), hint)
        }
        Err(error) => Finding::warn(check, error_causes::describe(&error), hint),
    })
}

/// Fetches the keys of the issuer of access tokens, as the server does. Keys of other algorithms do not count.
pub async fn issuer(settings: &Settings) -> Option<Finding> {
    let (check, hint) = ("issuer", "compare `auth.oauth.jwks_url` with the `jwks_uri` of the issuer's metadata");
    let oauth = &settings.auth.oauth;
    if oauth.issuer.is_empty() {
        return None;
    }
    let probe = async {
        let count = access_tokens::usable_keys(&oauth.jwks_url, TIMEOUT).await?;
        Ok(Finding::pass(check, format!("`{}` publishes usable keys: {count}", oauth.issuer)))
    };
    Some(within(check, hint, probe).await)
}

/// Searches each web provider once. One that fails is a warning, since searches work without it.
pub async fn web_providers(settings: &Settings) -> Vec<Finding> {
    let (check, hint) = ("web_provider", "see \"Search providers\" in docs/operations.md");
    let providers = match compose::web_sources(settings) {
        Ok(sources) => sources.providers,
        Err(error) => return vec![Finding::fail(check, format!("{error:#}"), hint)],
    };
    let query = WebQuery { text: "test".to_owned(), ..WebQuery::default() };
    let findings = providers.into_iter().map(async |setup| {
        let name = setup.provider.name();
        match tokio::time::timeout(TIMEOUT, setup.provider.search(&query, SystemClock.now())).await {
            Ok(Ok(response)) => {
                Finding::pass(check, format!("{name} responds with {} results", response.results.len()))
            }
            Ok(Err(error)) => Finding::warn(check, format!("{name}: {error}"), hint),
            Err(_) => Finding::warn(check, format!("{name}: no answer within {TIMEOUT:?}"), hint),
        }
    });
    let findings: Vec<_> = findings.collect();
    futures_util::future::join_all(findings).await
}

/// Sends a request without spans to the collector of traces. Requests are served without one.
pub async fn collector(settings: &Settings) -> Option<Finding> {
    let (check, hint) = (
        "traces",
        "compare `telemetry.otlp_url` with the OTLP receiver of a running collector: HTTP, usually port 4318",
    );
    let options = traces::options(&settings.telemetry)?;
    Some(match telemetry::probe(&options).await {
        Ok(()) => Finding::pass(check, "the collector accepts traces"),
        Err(error) => Finding::warn(check, error_causes::describe(error.as_ref()), hint),
    })
}
