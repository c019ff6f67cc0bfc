//! Outcomes of steps. Everything in them is untrusted: lengths, ids and numbers are checked before they are kept.

use retrieval_core::chars;

use super::assignment::{Assignment, Depth, Limits};
use super::event::Event;
use super::plan::{self, SubQuestion};
use super::prompt::{Prompt, Purpose};
use super::prompts::{self, Answer};
use super::quotes;
use super::report;
use super::result::Report;
use super::state::{MAX_CHECKS, Phase, Question, State, VerifiedQuote};
use super::step::{Check, CitationCheck, Outcome, Step};
use super::text::words;

const MAX_REASON_CHARS: usize = 300;

impl State {
    /// Creates the state of a new run, with questions by rules.
    pub fn new(assignment: &Assignment) -> Self {
        let mut state = Self::default();
        let mut questions = plan::split(&assignment.query);
        if let Some(previous) = &assignment.previous {
            let context: Vec<String> =
                words::terms(&previous.query).into_iter().take(4).map(|term| term.word).collect();
            for question in questions.iter_mut().filter(|question| question.topic.is_empty()) {
                // A short follow-up is about the subject of the earlier run.
                if words::terms(&question.text).len() < 3 {
                    question.topic = context.join(" ");
                }
            }
        }
        state.set_questions(questions, assignment.depth);
        state.phase =
            if assignment.has_model && assignment.depth != Depth::Quick { Phase::Planning } else { Phase::Searching };
        state
    }

    fn set_questions(&mut self, mut questions: Vec<SubQuestion>, depth: Depth) {
        let rest = questions.split_off(questions.len().min(Limits::of(depth).questions));
        self.left_out = rest.into_iter().map(|question| question.text).collect();
        self.questions = questions
            .into_iter()
            .map(|SubQuestion { text, topic }| Question {
                terms: words::terms(&format!("{text} {topic}")),
                text,
                topic,
                ..Question::default()
            })
            .collect();
        self.open = (0..self.questions.len()).collect();
        self.round = 1;
    }

    /// Adds the outcome of a step to the state. Returns the events to store with it.
    ///
    /// An outcome of another kind than the step counts as its failure. Called exactly once for each step.
    pub fn apply(&mut self, assignment: &Assignment, step: &Step, outcome: Outcome) -> Vec<Event> {
        let mut events = Vec::new();
        match step {
            Step::Search { question, search_queries, .. } => {
                self.phase = Phase::Searching;
                self.spent.searches = self.spent.searches.saturating_add(1);
                self.tell_plan(&mut events);
                let found = match outcome {
                    Outcome::Found(hits) => Ok(hits),
                    other => Err(reason(other)),
                };
                self.searched(assignment, *question, search_queries, found, &mut events);
            }
            Step::Read { question, doc_id, .. } => {
                self.phase = Phase::Reading;
                self.spent.documents = self.spent.documents.saturating_add(1);
                let read = match outcome {
                    Outcome::Document(read) if read.doc_id == *doc_id => Some(read),
                    _ => None,
                };
                if let Some(source) = self.sources.iter().position(|source| source.doc_id == *doc_id) {
                    self.read(assignment, *question, source, read, &mut events);
                }
            }
            Step::Generate(prompt) => {
                self.generated(assignment, prompt, outcome);
                if prompt.purpose == Purpose::Plan {
                    self.tell_plan(&mut events);
                }
            }
            Step::Check { citations, is_late } => {
                self.phase = Phase::Verifying;
                if self.checks == 0 {
                    // Later, rejected notes can open gaps again.
                    self.budget_reached = *is_late || self.is_budget_reached(assignment);
                }
                self.checked(assignment, citations, outcome, &mut events);
            }
            Step::Finish(_) => self.phase = Phase::Done,
        }
        events
    }

    fn tell_plan(&mut self, events: &mut Vec<Event>) {
        if !self.plan_told {
            self.plan_told = true;
            let questions = self.questions.iter().map(|question| question.text.clone()).collect();
            events.push(Event::Plan { questions });
        }
    }

    fn generated(&mut self, assignment: &Assignment, prompt: &Prompt, outcome: Outcome) {
        let (text, tokens, truncated) = match outcome {
            Outcome::Generated { text, tokens, truncated } => (Some(text), tokens, truncated),
            Outcome::ModelFailed { tokens, .. } => (None, tokens, false),
            _ => (None, None, false),
        };
        let answer = Answer { text: text.as_deref().unwrap_or_default(), truncated };
        self.spent.tokens = self.spent.tokens.saturating_add(prompts::charge(prompt, answer.text, tokens));
        self.model_lost |= text.is_none();
        match prompt.purpose {
            Purpose::Plan => {
                self.phase = Phase::Searching;
                self.planned = true;
                let questions = prompts::plan::parse(answer);
                if !questions.is_empty() {
                    self.set_questions(questions, assignment.depth);
                }
            }
            Purpose::Judge => {
                self.phase = Phase::Judging;
                self.judged_round = self.round;
                prompts::judge::parse(answer, &prompt.shown).iter().for_each(|verdict| verdict.apply(self));
            }
            Purpose::Write => {
                self.phase = Phase::Writing;
                self.write_asked = true;
                self.written = prompts::write::parse(answer, &prompt.shown, assignment.output.format);
            }
        }
    }

    fn checked(
        &mut self,
        assignment: &Assignment,
        citations: &[CitationCheck],
        outcome: Outcome,
        events: &mut Vec<Event>,
    ) {
        let checks: Option<Vec<Check>> = match outcome {
            Outcome::Checked(checks) => Some(checks),
            other => {
                self.check_failure = Some(reason(other));
                None
            }
        };
        // The same draft as the one that the step was made from: nothing changed since.
        let pending = report::pending_quotes(self, assignment);
        self.checks = self.checks.saturating_add(1);
        for (quote, citation) in pending.iter().zip(citations) {
            let Some(checks) = &checks else { break };
            let found = checks.iter().find(|check| check.n == citation.n).and_then(|check| check.char_start);
            match found {
                Some(char_start) => self.verified.push(VerifiedQuote {
                    note: quote.note,
                    start: quote.start,
                    end: quote.end,
                    char_start,
                }),
                None => self.notes[quote.note].rejected = true,
            }
        }
        let is_verified = pending.iter().all(|quote| quotes::verified_at(self, *quote).is_some());
        if self.checks >= MAX_CHECKS || is_verified || report::pending_quotes(self, assignment).is_empty() {
            let draft = report::compose(self, assignment);
            events.extend(report::deltas(&draft.text).map(|text| Event::OutputDelta { text }));
            self.draft = Some(draft);
        }
    }

    /// Returns the verified report once there is one.
    pub fn report(&self) -> Option<Report> {
        self.draft.clone()
    }
}

impl Question {
    /// Text that searches and reads select passages by.
    pub(super) fn search_text(&self) -> String {
        if self.topic.is_empty() { self.text.clone() } else { format!("{} {}", self.text, self.topic) }
    }
}

/// Reason of an outcome that is a failure, or of another kind than its step.
fn reason(outcome: Outcome) -> String {
    let reason = match outcome {
        Outcome::SourceFailed { reason } | Outcome::ModelFailed { reason, .. } | Outcome::Unreadable { reason } => {
            reason
        }
        Outcome::Found(_) | Outcome::Document(_) | Outcome::Generated { .. } | Outcome::Checked(_) => {
            "the outcome does not belong to the step".to_owned()
        }
    };
    chars::truncate(&reason, MAX_REASON_CHARS).to_owned()
}
