use api_types::timestamp::rfc3339;
use api_types::{
    ResearchBasis, ResearchCitation, ResearchEntry, ResearchError, ResearchFormat, ResearchOutput, ResearchPlanStep,
    ResearchProblem, ResearchProgress, ResearchRun, ResearchStatus, ResearchStopReason, ResearchUsage, ResearchWebhook,
    SearchIndex, Usage, Warning, WarningCode,
};
use app::clock::to_date_time;
use model::{IndexName, ResearchStop, Timestamp};
use research::engine::{Citation, Depth, Format, Report};
use research::{RunEntry, RunView, WebhookView};
use serde_json::Map;
use time::OffsetDateTime;

use crate::numbers::wire_int;

/// Converts a run.
pub(crate) fn run(view: &RunView, now: OffsetDateTime) -> ResearchRun {
    let elapsed = view.started_at.map_or(0, |started| {
        let end = view.completed_at.map_or(now, to_date_time);
        (end - to_date_time(started)).whole_milliseconds().max(0)
    });
    let plan = view.progress.plan.iter().map(|step| ResearchPlanStep {
        step: wire_int(step.step as u64),
        question: step.question.clone(),
        status: step.status.clone(),
    });
    ResearchRun {
        research_id: view.research_id.0,
        session_id: view.session_id.0,
        query: view.query.clone(),
        status: status(view.status),
        stop_reason: view.stop_reason.map(stop_reason),
        created_at: at(view.created_at),
        started_at: view.started_at.map(at),
        completed_at: view.completed_at.map(at),
        expires_at: at(view.expires_at),
        poll_after_ms: (!view.status.is_terminal()).then(|| poll_after_ms(view.depth)),
        progress: ResearchProgress {
            phase: view.progress.phase.clone(),
            searches: view.searches.into(),
            documents_read: view.documents.into(),
            passages_kept: wire_int(view.progress.passages_kept as u64),
            elapsed_ms: i64::try_from(elapsed).unwrap_or(i64::MAX),
        },
        plan: plan.collect(),
        output: view.report.as_ref().map(output),
        error: view
            .error
            .as_ref()
            .map(|error| ResearchError { code: error.code.clone(), message: error.message.clone() }),
        warnings: warnings(view),
        metadata: view.metadata.clone(),
        webhook: view.webhook.as_ref().map(webhook),
    }
}

/// Converts a run of a list.
pub(crate) fn entry(view: RunEntry) -> ResearchEntry {
    ResearchEntry {
        research_id: view.research_id.0,
        session_id: view.session_id.0,
        status: status(view.status),
        stop_reason: view.stop_reason.map(stop_reason),
        created_at: at(view.created_at),
        started_at: view.started_at.map(at),
        completed_at: view.completed_at.map(at),
        expires_at: at(view.expires_at),
        query: view.query,
        metadata: view.metadata,
    }
}

/// Returns the usage block before the body's length is known.
pub(crate) fn usage(view: &RunView) -> ResearchUsage {
    ResearchUsage {
        request: Usage { requests: 1, bytes_returned: 0 },
        searches: view.searches.into(),
        documents: view.documents.into(),
        tokens: wire_int(view.tokens),
    }
}

fn at(at: Timestamp) -> String {
    rfc3339(to_date_time(at))
}

fn status(status: model::ResearchStatus) -> ResearchStatus {
    match status {
        model::ResearchStatus::Queued => ResearchStatus::Queued,
        model::ResearchStatus::Running => ResearchStatus::Running,
        model::ResearchStatus::Completed => ResearchStatus::Completed,
        model::ResearchStatus::Failed => ResearchStatus::Failed,
        model::ResearchStatus::Cancelled => ResearchStatus::Cancelled,
    }
}

fn stop_reason(reason: ResearchStop) -> ResearchStopReason {
    match reason {
        ResearchStop::Answered => ResearchStopReason::Answered,
        ResearchStop::BudgetReached => ResearchStopReason::BudgetReached,
        ResearchStop::NoSources => ResearchStopReason::NoSources,
        ResearchStop::Cancelled => ResearchStopReason::Cancelled,
        ResearchStop::Error => ResearchStopReason::Error,
        ResearchStop::Interrupted => ResearchStopReason::Interrupted,
    }
}

const fn poll_after_ms(depth: Depth) -> i64 {
    match depth {
        Depth::Quick => 500,
        Depth::Standard => 2_000,
        Depth::Deep => 5_000,
    }
}

fn webhook(webhook: &WebhookView) -> ResearchWebhook {
    ResearchWebhook { url: webhook.url.clone(), event_types: webhook.events.clone(), secret: None }
}

fn warnings(view: &RunView) -> Vec<Warning> {
    let warning = |code, message: &str| Warning { code, message: message.to_owned(), details: Map::new() };
    let mut warnings = Vec::new();
    for known in view.warnings() {
        warnings.push(match known {
            research::engine::Warning::SynthesisUnavailable => warning(
                WarningCode::SynthesisUnavailable,
                "no model wrote the report; it consists of sentences of the sources",
            ),
        });
    }
    if view.is_partial() {
        let message = "the budget ended the run; the report covers what was found until then";
        warnings.push(warning(WarningCode::BudgetReached, message));
    }
    warnings
}

fn output(report: &Report) -> ResearchOutput {
    let basis = report.basis.iter().map(|basis| ResearchBasis {
        field: basis.field.clone(),
        citations: basis.citations.iter().map(|n| i64::from(*n)).collect(),
        confidence: basis.confidence.as_str().to_owned(),
    });
    let problems = report
        .problems
        .iter()
        .map(|problem| ResearchProblem { field: problem.field.clone(), message: problem.message.clone() });
    ResearchOutput {
        format: match report.format {
            Format::Markdown => ResearchFormat::Markdown,
            Format::Text => ResearchFormat::Text,
            Format::Structured => ResearchFormat::Structured,
        },
        text: report.text.clone(),
        structured: report.structured.clone(),
        truncated: report.truncated,
        engine: report.engine.as_str().to_owned(),
        citations: report.citations.iter().map(citation).collect(),
        basis: basis.collect(),
        unanswered: report.unanswered.clone(),
        sources_considered: wire_int(report.sources_considered as u64),
        problems: problems.collect(),
    }
}

fn citation(citation: &Citation) -> ResearchCitation {
    let place = |at: usize| wire_int(at as u64);
    ResearchCitation {
        n: citation.n.into(),
        doc_id: citation.doc_id.0,
        passage_id: citation.passage_id.map(|id| id.0),
        capture_id: citation.capture_id.0,
        capture_time: at(citation.capture_time),
        canonical_url: citation.canonical_url.clone(),
        title: citation.title.clone(),
        index: match citation.index {
            IndexName::Web => SearchIndex::Web,
            IndexName::Workspace => SearchIndex::Workspace,
        },
        published_at: citation.published_at.map(at),
        quote: citation.quote.clone(),
        char_start: place(citation.char_start),
        char_end: place(citation.char_end),
        output_start: citation.output_start.map(place),
        output_end: citation.output_end.map(place),
        verified: citation.verified,
    }
}
