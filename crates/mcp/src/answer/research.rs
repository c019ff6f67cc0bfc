//! The answer of `research_get`: the progress of a run, or its report and numbered sources with their quotes.

use api_types::{
    ResearchBasis, ResearchCitation, ResearchError, ResearchOutput, ResearchProblem, ResearchProgress,
    ResearchResponse, ResearchRun, ResearchStatus, ResearchStopReason,
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::hits::day;
use super::size::{Size, chars, json_chars, prefix};
use super::text::{fitting, frame, line, mark, marked, quoted};
use super::{Answer, Tail};
use crate::Failure;

/// Longest title, in characters.
const MAX_TITLE: usize = 120;
/// Longest message of a failed run, in characters.
const MAX_MESSAGE: usize = 300;
/// Maximum number of unanswered questions.
const MAX_UNANSWERED: usize = 5;
/// Maximum number of problems.
const MAX_PROBLEMS: usize = 10;
/// Room for notes on omitted parts, the next call and the names of fields.
const NOTES: Size = Size { text: 360, json: 460 };

#[derive(Serialize)]
struct Research<'a> {
    research_id: Uuid,
    status: ResearchStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<ResearchStopReason>,
    progress: &'a ResearchProgress,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ResearchError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    citations: Vec<Source<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    basis: &'a [ResearchBasis],
    /// Places of the schema that could not be filled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ResearchProblem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unanswered: Vec<String>,
    /// True if a part of the report is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(flatten)]
    tail: Tail,
}

/// A citation in its slim form.
#[derive(Serialize)]
struct Source<'a> {
    n: i64,
    doc_id: Uuid,
    capture_id: Uuid,
    canonical_url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<&'a str>,
}

impl<'a> Source<'a> {
    fn of(citation: &'a ResearchCitation) -> Self {
        Self {
            n: citation.n,
            doc_id: citation.doc_id,
            capture_id: citation.capture_id,
            canonical_url: &citation.canonical_url,
            title: citation.title.as_deref().map(|title| line(title, MAX_TITLE)),
            published_at: citation.published_at.as_deref(),
            quote: None,
        }
    }

    fn markdown(&self) -> String {
        let title = self.title.as_deref().filter(|title| !title.is_empty()).unwrap_or("(no title)");
        let url = line(self.canonical_url, usize::MAX);
        let day = self.published_at.map(|time| format!(" | {}", day(time))).unwrap_or_default();
        let quote = self.quote.map(|quote| format!("\n{}", quoted(quote))).unwrap_or_default();
        format!("[{}] {title}\n{url} | doc_id {}{day}{quote}", self.n, self.doc_id)
    }

    fn size(&self) -> Size {
        Size::of(&self.markdown(), self) + Size { text: 1, json: 0 }
    }
}

/// Returns the call that waits for the end of a run.
pub(crate) fn research_call(run: &ResearchRun) -> String {
    format!("for the report, call research_get with {{\"research_id\": \"{}\"}}", run.research_id)
}

/// Builds the answer for a run within `limit` characters in each form: the report, its sources, then their quotes.
///
/// # Errors
/// The answer cannot be serialized.
pub(crate) fn research(response: &ResearchResponse, limit: usize, mut tail: Tail) -> Result<Answer, Failure> {
    let run = &response.run;
    tail.shorten(limit);
    if !run.status.is_terminal() {
        tail.next(research_call(run));
    }
    let mut answer = Research {
        research_id: run.research_id,
        status: run.status,
        stop_reason: run.stop_reason,
        progress: &run.progress,
        error: run.error.as_ref().map(|error| ResearchError {
            code: line(&error.code, MAX_TITLE),
            message: line(&error.message, MAX_MESSAGE),
        }),
        text: None,
        structured: None,
        citations: Vec::new(),
        basis: &[],
        problems: Vec::new(),
        unanswered: Vec::new(),
        truncated: false,
        tail,
    };
    let mark = mark(response.request_id);
    if let Some(output) = &run.output {
        answer.add_report(output, limit, &mark);
    }
    let text = answer.markdown(&mark);
    Answer::new(text, &answer)
}

impl<'a> Research<'a> {
    fn add_report(&mut self, output: &'a ResearchOutput, limit: usize, mark: &str) {
        let base = Size { text: chars(&self.markdown(mark)), json: json_chars(self) } + NOTES;
        let sources: Vec<Source<'a>> = output.citations.iter().map(Source::of).collect();
        // Sources take at most half of the room, so that the report has the other half.
        let mut size = base;
        for source in sources {
            let larger = size + source.size();
            if !larger.fits(limit / 2) {
                break;
            }
            size = larger;
            self.citations.push(source);
        }
        size = match &output.structured {
            Some(value) => self.add_structured(value, output, size, limit, mark),
            None if output.text.is_empty() => size,
            None => self.add_text(&output.text, size, limit, mark),
        };
        size = self.add_problems(&output.problems, size, limit);
        let is_cut = self.truncated;
        self.truncated |= output.truncated;
        for (source, citation) in self.citations.iter_mut().zip(&output.citations) {
            let before = source.size();
            source.quote = Some(&citation.quote);
            let after = source.size();
            let larger =
                Size { text: size.text + after.text - before.text, json: size.json + after.json - before.json };
            if !larger.fits(limit) {
                source.quote = None;
                break;
            }
            size = larger;
        }
        for question in output.unanswered.iter().take(MAX_UNANSWERED) {
            let question = line(question, MAX_TITLE);
            let text = if self.shows_unanswered() { chars(&unanswered_line(&question)) + 1 } else { 0 };
            let larger = size + Size { text, json: json_chars(&question) + 1 };
            if larger.fits(limit) {
                size = larger;
                self.unanswered.push(question);
            }
        }
        let left_out = output.citations.len() - self.citations.len();
        if left_out > 0 {
            self.tail.note(format!("{left_out} of {} sources do not fit", output.citations.len()));
        }
        // The room for notes is part of the size.
        if output.truncated && !is_cut && size.fits(limit) {
            self.tail.note("the report was cut to its max_chars: start research with a larger one");
        }
        if left_out > 0 || is_cut {
            self.suggest_more(limit);
        }
    }

    /// Adds what could not be filled in a structured report.
    fn add_problems(&mut self, problems: &[ResearchProblem], mut size: Size, limit: usize) -> Size {
        for problem in problems.iter().take(MAX_PROBLEMS) {
            let problem = ResearchProblem {
                field: line(&problem.field, MAX_TITLE),
                message: line(&problem.message, MAX_MESSAGE),
            };
            let larger = size + Size::of(&problem_line(&problem), &problem);
            if larger.fits(limit) {
                size = larger;
                self.problems.push(problem);
            }
        }
        size
    }

    /// True if the text form lists the unanswered questions, which a report in prose names itself.
    fn shows_unanswered(&self) -> bool {
        self.text.is_none()
    }

    fn add_text(&mut self, report: &str, size: Size, limit: usize, mark: &str) -> Size {
        let around = Size { text: frame(mark), json: 2 };
        let text = prefix(report, fitting(report, (size + around).room(limit)));
        self.truncated = text.len() < report.len();
        self.text = Some(text.to_owned());
        size + Size { text: chars(&marked(text, mark)), json: json_chars(&text) }
    }

    /// Adds the JSON of a report, which cannot be cut, with the basis of its fields.
    fn add_structured(
        &mut self,
        value: &'a Value,
        output: &'a ResearchOutput,
        size: Size,
        limit: usize,
        mark: &str,
    ) -> Size {
        let json = json_chars(value);
        let larger = size + Size { text: chars(&marked(&value.to_string(), mark)), json };
        if !larger.fits(limit) {
            self.truncated = true;
            return size;
        }
        self.structured = Some(value);
        let basis: String = output.basis.iter().map(basis_line).collect();
        let with_basis = larger + Size { text: chars(&basis), json: json_chars(&output.basis) };
        if !with_basis.fits(limit) {
            return larger;
        }
        self.basis = &output.basis;
        with_basis
    }

    fn suggest_more(&mut self, limit: usize) {
        let more = (limit * 4).min(crate::calls::MAX_CHARS);
        if more > limit {
            self.tail.next(format!(
                "for more of the report, call research_get with {{\"research_id\": \"{}\", \"max_chars\": {more}}}",
                self.research_id
            ));
        }
    }

    fn markdown(&self, mark: &str) -> String {
        let mut parts = vec![self.head()];
        if let Some(text) = &self.text {
            parts.push(marked(text, mark));
        }
        if let Some(value) = self.structured {
            parts.push(marked(&value.to_string(), mark));
            parts.extend(self.basis.iter().map(|basis| basis_line(basis).trim_end().to_owned()));
        }
        parts.extend(self.problems.iter().map(problem_line));
        if self.shows_unanswered() {
            parts.extend(self.unanswered.iter().map(|question| unanswered_line(question)));
        }
        let sources: Vec<String> = self.citations.iter().map(Source::markdown).collect();
        if !sources.is_empty() {
            parts.push(sources.join("\n\n"));
        }
        let tail: Vec<String> = self.tail.lines().collect();
        if !tail.is_empty() {
            // A quote would continue in the next line.
            parts.push(if sources.is_empty() { tail.join("\n") } else { format!("\n{}", tail.join("\n")) });
        }
        parts.join("\n")
    }

    fn head(&self) -> String {
        let id = self.research_id;
        let ResearchProgress { phase, searches, documents_read, passages_kept, elapsed_ms } = self.progress;
        let seconds = elapsed_ms / 1000;
        match (self.status, &self.error) {
            (ResearchStatus::Queued, _) => format!("Research {id} is queued."),
            (ResearchStatus::Completed, _) => {
                let reason = serde_json::to_value(self.stop_reason).unwrap_or_default();
                let reason = reason.as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
                format!("Research {id} is completed{reason}. Searches: {searches}, documents read: {documents_read}.")
            }
            (ResearchStatus::Failed, Some(error)) => {
                format!("Research {id} failed: {} ({}).", error.message, error.code)
            }
            (ResearchStatus::Failed, None) => format!("Research {id} failed."),
            (ResearchStatus::Cancelled, _) => format!("Research {id} was cancelled."),
            (ResearchStatus::Running | ResearchStatus::Unknown, _) => format!(
                "Research {id} is running for {seconds} s ({}). Searches: {searches}, documents read: {documents_read}, \
                 passages kept: {passages_kept}.",
                line(phase, MAX_TITLE)
            ),
        }
    }
}

fn basis_line(basis: &ResearchBasis) -> String {
    let marks: String = basis.citations.iter().map(|n| format!("[{n}]")).collect();
    format!("{} {marks} {}\n", line(&basis.field, MAX_TITLE), line(&basis.confidence, MAX_TITLE))
}

fn problem_line(problem: &ResearchProblem) -> String {
    format!("Problem {}: {}", problem.field, problem.message)
}

fn unanswered_line(question: &str) -> String {
    format!("Unanswered: {question}")
}
