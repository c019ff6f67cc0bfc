use std::sync::Arc;

use ::webhooks::generate_secret;
use app::search::SearchRequest;
use app::{Error, Result, Viewer};
use docstore::{Details, NewResearchEvent, ResearchRun, Strings, strip_nul};
use model::{ResearchId, ResearchStatus, SessionId, WebhookEvent};
use retrieval_core::chars;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::request::StoredSearch;
use super::{Research, RunView, StoredRequest, StoredState, progress_of};
use crate::engine::{Assignment, Budget, DEFAULT_ANSWER_TOKENS, Depth, Format, OutputSpec, PreviousReport, structured};

/// Maximum size of the sites of a source policy in bytes, with their paths escaped: the run stores them.
const MAX_SITES: usize = 256 * 1024;
/// Characters of an earlier structured value that the run stores: more than a model is shown.
const MAX_EARLIER_VALUE: usize = 20_000;

/// A run to create. Single values are validated already.
#[derive(Clone, Debug)]
pub struct NewRun {
    pub query: String,
    pub depth: Depth,
    pub instructions: Option<String>,
    pub output: OutputSpec,
    pub budget: Budget,
    /// Run to continue.
    pub previous: Option<ResearchId>,
    /// Limits of the searches; its texts and sizes do not count.
    pub search: SearchRequest,
    pub session_id: SessionId,
    pub metadata: Map<String, Value>,
    pub webhook: Option<NewWebhook>,
}

/// Address that receives the end of one run.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    pub url: String,
    pub events: Vec<WebhookEvent>,
}

/// A run that was created.
#[derive(Clone, Debug)]
pub struct CreatedRun {
    pub run: RunView,
    /// Signs the deliveries of the run; never shown again.
    pub webhook_secret: Option<String>,
}

impl Research {
    /// Queues a run and wakes the worker of this process.
    ///
    /// # Errors
    /// `Invalid`; `NoRetrieval`; `QuotaExceeded` while the disk is almost full; `InsufficientBalance` if not even one search
    /// can be paid; `ResearchNotFound` for an unknown previous run; `ResearchConcurrency`.
    pub async fn create(&self, viewer: &Viewer, new: NewRun) -> Result<CreatedRun> {
        let query = strip_nul(new.query);
        if query.trim().is_empty() {
            return Err(Error::invalid("query", "query must not be blank"));
        }
        let output = self.checked_output(viewer, new.output).await?;
        self.app.check_search(viewer, &new.search)?;
        let search = StoredSearch::of(&new.search);
        let bytes = search.site_bytes();
        if bytes > MAX_SITES {
            let message = format!("source_policy has sites of {bytes} bytes; the maximum is {MAX_SITES}");
            return Err(Error::invalid("source_policy", message));
        }
        if let Some(webhook) = &new.webhook {
            self.webhooks
                .check(&webhook.url)
                .map_err(|refused| Error::invalid("webhook.url", format!("webhook.url: {refused}")))?;
        }
        let previous = match new.previous {
            Some(id) => Some(self.previous_report(viewer, id).await?),
            None => None,
        };
        self.app.require_disk_space()?;
        self.app.check_balance(viewer).await?;
        let assignment = Assignment {
            query: query.clone(),
            depth: new.depth,
            instructions: new.instructions,
            output,
            budget: new.budget,
            previous,
            has_model: self.generator.is_some() && new.budget.max_tokens > 0,
            max_answer_tokens: self.generator.as_ref().map_or(DEFAULT_ANSWER_TOKENS, |model| model.max_tokens()),
        };
        let request = Arc::new(StoredRequest { assignment, search });
        let progress = self.first_progress(viewer, &request).await?;
        let secret = new.webhook.as_ref().map(|_| generate_secret());
        let (webhook_url, webhook_events) = match new.webhook {
            Some(NewWebhook { url, events }) => {
                let names = events.iter().map(|event| event.as_str().to_owned()).collect();
                (Some(url), Some(Strings(names)))
            }
            None => (None, None),
        };
        let now = self.clock.now();
        let run = ResearchRun {
            research_id: ResearchId(Uuid::now_v7()),
            organization_id: viewer.organization_id,
            session_id: new.session_id,
            identity: viewer.identity.rate_key(),
            query,
            request: serde_json::to_string(&*request).map_err(Error::internal)?,
            progress,
            status: ResearchStatus::Queued,
            stop_reason: None,
            error: None,
            metadata: Details(new.metadata),
            webhook_url,
            webhook_secret: secret.clone(),
            webhook_events,
            searches: 0,
            documents: 0,
            tokens: 0,
            last_sequence: 0,
            attempts: 0,
            lease_owner: None,
            lease_expires_at: None,
            created_at: now,
            started_at: None,
            completed_at: None,
            expires_at: now + self.options.retention,
        };
        let depth = serde_json::to_value(new.depth).unwrap_or_default();
        let data = Details::default().with("query", run.query.as_str()).with("depth", depth);
        let created = NewResearchEvent { kind: "created", data };
        let limit = self.options.runs_per_organization;
        if !self.store.create_research(run.clone(), created, i64::from(limit)).await? {
            return Err(Error::ResearchConcurrency { limit });
        }
        self.wake.notify_one();
        Ok(CreatedRun { run: RunView::new(run, None), webhook_secret: secret })
    }

    /// Returns the output after all checks. Compiling a schema may take tens of milliseconds, so it leaves the
    /// thread that serves connections.
    async fn checked_output(&self, viewer: &Viewer, output: OutputSpec) -> Result<OutputSpec> {
        let has_schema = output.schema.is_some();
        let check = move || check_output(&output).map(|()| output);
        if !has_schema {
            return check();
        }
        self.app.compute_for(viewer.organization_id, structured::MAX_SCHEMA_BYTES, check).await?
    }

    /// Returns the progress before the first step: the questions by rules. Dividing a long query leaves the thread that
    /// serves connections.
    async fn first_progress(&self, viewer: &Viewer, request: &Arc<StoredRequest>) -> Result<Details> {
        let (bytes, request) = (request.assignment.query.len(), Arc::clone(request));
        let begin = move || progress_of(&StoredState::new(&request).engine).progress;
        self.app.compute_for(viewer.organization_id, bytes, begin).await
    }

    /// Returns the report of a run of the viewer's organization to continue.
    async fn previous_report(&self, viewer: &Viewer, id: ResearchId) -> Result<PreviousReport> {
        let found = self.store.find_research(viewer.organization_id, id).await?.ok_or(Error::ResearchNotFound)?;
        let (run, output) = found;
        let run = RunView::new(run, output.as_deref());
        let Some(report) = run.report else {
            let message = format!("previous_research_id: the run `{id}` has no report; its status is `{}`", run.status);
            return Err(Error::invalid("previous_research_id", message));
        };
        let text = report.structured.map_or(report.text, |value| {
            // In lines, so that it can be shortened between them.
            chars::truncate(&format!("{value:#}"), MAX_EARLIER_VALUE).to_owned()
        });
        Ok(PreviousReport { query: run.query, text })
    }
}

fn check_output(output: &OutputSpec) -> Result<()> {
    match (output.format, &output.schema) {
        (Format::Structured, None) => {
            Err(Error::invalid("output.schema", "output.schema is required if output.format is `structured`"))
        }
        (Format::Structured, Some(schema)) => structured::validate_schema(schema).map_err(|invalid| {
            let field = format!("output.schema{}", invalid.field);
            Error::invalid(field.clone(), format!("{field}: {}", invalid.message))
        }),
        (Format::Markdown | Format::Text, Some(_)) => {
            Err(Error::invalid("output.schema", "output.schema needs output.format `structured`"))
        }
        (Format::Markdown | Format::Text, None) => Ok(()),
    }
}
