//! Execution of one step over the use cases of the service.

use std::time::Duration;

use app::documents::{ContentFormat, Include, PassageView, ReadOutcome, ReadRequest, Selection, Target};
use app::search::{SearchHit, SearchOutcome};
use app::{Charge, Deadline, Error, Viewer, Work};
use docstore::ResearchRun;
use model::{DocId, SearchId};
use models::generation::{GenerationRequest, Tokens};
use tokio::time::{Instant, timeout, timeout_at};

use super::FREE_STEP;
use crate::engine::{Depth, FoundHit, FoundPassage, Outcome, Prompt, Purpose, ReadText, Step};
use crate::runs::{Research, StoredRequest};

/// Times that a search or read is repeated while the server is busy.
const BUSY_RETRIES: usize = 3;
/// Longest time for which a search or read waits for the database.
const OUTAGE: Duration = Duration::from_secs(30);
/// Delay before a search or read is repeated during an outage of the database.
pub(super) const OUTAGE_DELAY: Duration = Duration::from_millis(500);
/// Passages of a document that is read.
const PASSAGES: usize = 6;
/// Longest time of one read, with the fetch of a page.
const READ_TIME: Duration = Duration::from_secs(15);
const OUT_OF_TIME: &str = "the time is over";

/// Surroundings of a step.
pub struct Order<'a> {
    pub run: &'a ResearchRun,
    pub request: &'a StoredRequest,
    pub viewer: &'a Viewer,
    /// Time that the step may take.
    pub left: Duration,
}

/// Executed step.
pub struct Executed {
    pub outcome: Outcome,
    /// Price of a search; refunded unless the step is stored.
    pub charge: Option<Charge>,
    pub search_id: Option<SearchId>,
}

impl From<Outcome> for Executed {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, charge: None, search_id: None }
    }
}

impl Research {
    /// Executes a step within the time that is left. Returns `None` if the balance does not cover a search.
    pub(super) async fn execute_step(&self, order: &Order<'_>, step: &Step) -> Option<Executed> {
        match step {
            Step::Search { query, search_queries, .. } => self.search_step(order, query, search_queries).await,
            Step::Read { doc_id, query, .. } => Some(self.read_step(order, *doc_id, query).await.into()),
            Step::Generate(prompt) => Some(self.generate_step(order, prompt).await.into()),
            Step::Check { citations, .. } => {
                // Costs no budget, so that a report that is due gets written.
                let checking = timeout(FREE_STEP, self.check(order.viewer, citations));
                let outcome = match checking.await {
                    Ok(checks) => Outcome::Checked(checks),
                    Err(_) => Outcome::SourceFailed { reason: "the captures could not be read in time".to_owned() },
                };
                Some(outcome.into())
            }
            Step::Finish(_) => Some(Outcome::SourceFailed { reason: "the run has ended".to_owned() }.into()),
        }
    }

    async fn search_step(&self, order: &Order<'_>, query: &str, search_queries: &[String]) -> Option<Executed> {
        let Order { run, request, viewer, left } = order;
        let searching = busy_retries(*left, || {
            let search = request.search.request(
                request.assignment.depth,
                query.to_owned(),
                search_queries.to_vec(),
                run.session_id,
                Deadline::after(*left),
            );
            let search = self.app.search_within(viewer, search, Some(run.research_id));
            self.app.within_share(viewer, Work::Search, search)
        });
        match searching.await {
            Ok(SearchOutcome { search_id, charge, hits, .. }) => Some(Executed {
                outcome: Outcome::Found(hits.into_iter().map(found_hit).collect()),
                charge,
                search_id: Some(search_id),
            }),
            Err(Error::InsufficientBalance) => None,
            Err(error) => Some(Outcome::SourceFailed { reason: reason(&error) }.into()),
        }
    }

    async fn read_step(&self, order: &Order<'_>, doc_id: DocId, query: &str) -> Outcome {
        let Order { request, viewer, left, .. } = order;
        let time = READ_TIME.min(*left);
        let reading = busy_retries(*left, || {
            let read = ReadRequest {
                target: Target::DocId(doc_id),
                capture_id: None,
                include: Include { metadata: true, passages: true, capture_history: false, content: false },
                query: Some(query.to_owned()),
                selection: Selection::QueryRelevant,
                format: ContentFormat::Markdown,
                max_chars: None,
                include_offsets: true,
                passage_ids: Vec::new(),
                range: None,
                max_passages: Some(PASSAGES),
                whole_page: true,
                max_age: None,
                // A quick run does not wait for pages.
                cache_only: request.assignment.depth == Depth::Quick,
                deadline: Deadline::after(time),
            };
            self.app.within_share(viewer, Work::Read, self.app.read_document(viewer, read))
        });
        match reading.await {
            Ok(read) => read_text(read),
            Err(error) => Outcome::Unreadable { reason: reason(&error) },
        }
    }

    async fn generate_step(&self, order: &Order<'_>, prompt: &Prompt) -> Outcome {
        let Some(generator) = &self.generator else {
            return Outcome::ModelFailed { reason: "no model is configured".to_owned(), tokens: Some(0) };
        };
        let parts = [prompt.material.as_str(), prompt.instructions.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let request = GenerationRequest {
            system: prompt.system.clone(),
            user: parts.join("\n\n"),
            schema: prompt.schema.clone(),
            // That of a report can contain the caller's.
            is_own_schema: prompt.purpose != Purpose::Write,
            max_tokens: prompt.max_tokens,
        };
        match timeout(order.left, generator.generate(&request)).await {
            Ok(Ok(generation)) => Outcome::Generated {
                text: generation.text,
                tokens: generation.tokens.map(Tokens::total),
                truncated: generation.truncated,
            },
            Ok(Err(error)) => {
                let cause = error_causes::describe(&error);
                tracing::warn!(research_id = %order.run.research_id, cause, "the model did not answer");
                Outcome::ModelFailed { reason: error.to_string(), tokens: error.tokens().map(Tokens::total) }
            }
            Err(_) => Outcome::ModelFailed { reason: OUT_OF_TIME.to_owned(), tokens: None },
        }
    }
}

/// Does the work within the time, and again while the server is busy or the database is unavailable.
async fn busy_retries<T, F>(time: Duration, work: impl Fn() -> F) -> app::Result<T>
where
    F: Future<Output = app::Result<T>>,
{
    let end = Instant::now() + time;
    let outage_end = end.min(Instant::now() + OUTAGE);
    let mut retries = 0;
    loop {
        match timeout_at(end, work()).await {
            Ok(Err(Error::Overloaded { retry_after, .. }))
                if retries < BUSY_RETRIES && Instant::now() + retry_after < end =>
            {
                retries += 1;
                tokio::time::sleep(retry_after).await;
            }
            Ok(Err(error)) if error.is_database_outage() && Instant::now() + OUTAGE_DELAY < outage_end => {
                tokio::time::sleep(OUTAGE_DELAY).await;
            }
            Ok(outcome) => return outcome,
            Err(_) => {
                return Err(Error::Overloaded { message: OUT_OF_TIME.to_owned(), retry_after: Duration::ZERO });
            }
        }
    }
}

/// Describes a failure to the owner of the run, without causes inside the service.
fn reason(error: &Error) -> String {
    error.to_string()
}

fn found_hit(hit: SearchHit) -> FoundHit {
    FoundHit {
        doc_id: hit.doc_id,
        canonical_url: hit.canonical_url,
        title: hit.title.or(hit.name),
        index: hit.collection.index(),
        published_at: hit.published_at,
        language: hit.language,
        capture_id: hit.capture_id,
        capture_time: hit.captured_at,
        passages: hit
            .passages
            .into_iter()
            .map(|passage| FoundPassage {
                passage_id: Some(passage.passage_id),
                text: passage.text,
                char_start: usize::try_from(passage.chars.start).ok(),
                section_path: passage.section_path,
            })
            .collect(),
    }
}

fn read_text(read: ReadOutcome) -> Outcome {
    let (Some(capture), Some(passages)) = (read.capture, read.passages) else {
        return Outcome::Unreadable { reason: "the document has no content".to_owned() };
    };
    let passage = |passage: PassageView| FoundPassage {
        passage_id: Some(passage.passage_id),
        text: passage.text,
        char_start: passage.chars.and_then(|(start, _)| usize::try_from(start).ok()),
        section_path: passage.section_path,
    };
    Outcome::Document(ReadText {
        doc_id: read.document.doc_id,
        title: read.document.title.or(read.document.name),
        published_at: read.document.published_at.map(app::clock::from_date_time),
        language: read.document.language,
        capture_id: capture.capture_id,
        capture_time: app::clock::from_date_time(capture.capture_time),
        passages: passages.into_iter().map(passage).collect(),
    })
}
