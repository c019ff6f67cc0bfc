//! The next step: searches and reads of the round, the next round, the report, its verification.

use std::time::Duration;

use super::assignment::{Assignment, Budget, Depth, Format, Limits, OnExceed};
use super::notes::coverage;
use super::plan::wordings;
use super::prompt::{Prompt, Purpose};
use super::prompts;
use super::report;
use super::select;
use super::state::State;
use super::step::{Ending, Step, StopReason};

/// Numerator and denominator of the share of the time that is for searching and reading if a model writes the report.
const GATHERING: (u32, u32) = (3, 4);
/// Divisor of the time for searching and reading that is left, for the longest time of planning.
const PLANNING: u32 = 2;

/// Something that the research still needs.
pub(super) enum Want {
    /// Ask the model for questions.
    Plan,
    Search {
        question: usize,
        queries: Vec<String>,
    },
    Read {
        question: usize,
        source: usize,
    },
    /// Ask the model which notes answer.
    Judge,
}

impl State {
    /// Returns the next step. `elapsed` is the time since the run began.
    ///
    /// The budget is enforced here: a step that could exceed it is never returned. Comparing quotes is free.
    pub fn next(&self, assignment: &Assignment, elapsed: Duration) -> Step {
        if self.draft.is_some() {
            return Step::Finish(self.ending());
        }
        let has_time = elapsed < assignment.budget.duration();
        if !self.write_asked && self.checks == 0 {
            if elapsed < self.gathering_time(assignment)
                && let Some(step) =
                    self.want(assignment, &assignment.budget).and_then(|want| self.step(assignment, want))
            {
                return step;
            }
            if has_time
                && self.can_generate(assignment)
                && !(self.is_out_of_budget(assignment) && assignment.budget.on_exceed == OnExceed::Fail)
                && let Some(prompt) = prompts::write::prompt(self, assignment)
            {
                return Step::Generate(prompt);
            }
            if assignment.budget.on_exceed == OnExceed::Fail && self.is_budget_reached(assignment) {
                return Step::Finish(failure(StopReason::BudgetReached, "the budget is used up"));
            }
        }
        let is_late = self.checks == 0 && self.write_asked && self.written.is_none() && !has_time;
        if is_late && assignment.budget.on_exceed == OnExceed::Fail {
            return Step::Finish(failure(StopReason::BudgetReached, "the time ended before the report was written"));
        }
        Step::Check { citations: report::pending(self, assignment), is_late }
    }

    /// Returns the time that a step may take. Planning and judging leave time for the steps after them.
    pub fn time_for(&self, assignment: &Assignment, step: &Step, elapsed: Duration) -> Duration {
        let left = assignment.budget.duration().saturating_sub(elapsed);
        let gathering = self.gathering_time(assignment).saturating_sub(elapsed);
        match step {
            Step::Generate(prompt) => match prompt.purpose {
                Purpose::Plan => gathering / PLANNING,
                Purpose::Judge => gathering,
                Purpose::Write => left,
            },
            Step::Search { .. } | Step::Read { .. } | Step::Check { .. } | Step::Finish(_) => left,
        }
    }

    /// Time after which no more is searched and read.
    fn gathering_time(&self, assignment: &Assignment) -> Duration {
        let all = assignment.budget.duration();
        if self.can_generate(assignment) { all * GATHERING.0 / GATHERING.1 } else { all }
    }

    pub(super) fn can_generate(&self, assignment: &Assignment) -> bool {
        assignment.has_model && !self.model_lost
    }

    /// Returns the next part of the research within a budget; `None` if it is complete, or if nothing more is affordable.
    pub(super) fn want(&self, assignment: &Assignment, budget: &Budget) -> Option<Want> {
        let limits = Limits::of(assignment.depth);
        let asks_model = self.can_generate(assignment) && assignment.depth != Depth::Quick;
        let affordable = |prompt: &Prompt| prompts::is_affordable(self, budget, prompt);
        if asks_model && !self.is_planned() && affordable(&prompts::plan::prompt(self, assignment)) {
            return Some(Want::Plan);
        }
        let can_search = self.spent.searches < budget.max_searches;
        if can_search && let Some((question, queries)) = self.pending_search() {
            return Some(Want::Search { question, queries });
        }
        let can_read = self.spent.documents < budget.max_documents;
        if can_read && let Some((question, source)) = self.pending_read(assignment.depth, limits) {
            return Some(Want::Read { question, source });
        }
        if self.round >= limits.rounds {
            return None;
        }
        let is_judged = self.judged_round >= self.round || self.notes.is_empty();
        if asks_model && !is_judged && affordable(&prompts::judge::prompt(self, assignment)) {
            return Some(Want::Judge);
        }
        if !can_search {
            return None;
        }
        let (question, queries) = self.next_round().into_iter().next()?;
        Some(Want::Search { question, queries })
    }

    fn step(&self, assignment: &Assignment, want: Want) -> Option<Step> {
        let text = |question: usize| self.questions.get(question).map(|asked| asked.search_text());
        match want {
            Want::Plan => Some(Step::Generate(prompts::plan::prompt(self, assignment))),
            Want::Judge => Some(Step::Generate(prompts::judge::prompt(self, assignment))),
            Want::Search { question, queries } => {
                Some(Step::Search { question, query: text(question)?, search_queries: queries })
            }
            Want::Read { question, source } => {
                Some(Step::Read { question, doc_id: self.sources.get(source)?.doc_id, query: text(question)? })
            }
        }
    }

    /// True once questions are decided.
    pub(super) fn is_planned(&self) -> bool {
        self.planned || !self.asked.is_empty()
    }

    fn was_asked(&self, question: usize, round: u32) -> bool {
        self.asked.iter().any(|asked| asked.question == question && asked.round == round)
    }

    fn pending_search(&self) -> Option<(usize, Vec<String>)> {
        let pending = self.open.iter().filter(|question| !self.was_asked(**question, self.round));
        pending.map(|question| (*question, self.wordings(*question))).find(|(_, wordings)| !wordings.is_empty())
    }

    fn wordings(&self, question: usize) -> Vec<String> {
        let Some(asked) = self.questions.get(question) else { return Vec::new() };
        let before: Vec<&String> =
            self.asked.iter().filter(|asked| asked.question == question).flat_map(|asked| &asked.queries).collect();
        if before.is_empty() {
            return wordings::first(asked);
        }
        let (missing, rare) = coverage::missing_and_rare(self, question);
        wordings::for_gap(asked, &missing, &rare, &before)
    }

    fn pending_read(&self, depth: Depth, limits: Limits) -> Option<(usize, usize)> {
        for question in &self.open {
            let reads = self.sources.iter().flat_map(|source| &source.reads);
            let done = reads.filter(|read| read.question == *question && read.round == self.round).count();
            let is_enough = depth == Depth::Quick && coverage::is_answered(self, *question);
            if done < limits.reads
                && !is_enough
                && let Some(source) = select::next_read(self, *question)
            {
                return Some((*question, source));
            }
        }
        None
    }

    /// Returns the questions of the next round with their wordings: those with a gap whose last search found something
    /// new, or whose first found nothing.
    pub(super) fn next_round(&self) -> Vec<(usize, Vec<String>)> {
        let mut round = Vec::new();
        for question in &self.open {
            let last = self.asked.iter().rfind(|asked| asked.question == *question);
            let is_hopeful = last.is_some_and(|last| last.new_sources > 0 || last.failure.is_some() || last.round == 1);
            if is_hopeful && coverage::has_gap(self, *question) {
                let wordings = self.wordings(*question);
                if !wordings.is_empty() {
                    round.push((*question, wordings));
                }
            }
        }
        round
    }

    /// Returns true if a larger budget would have been used.
    pub(super) fn is_budget_reached(&self, assignment: &Assignment) -> bool {
        let unwritten = self.can_generate(assignment) && !self.write_asked && !self.notes.is_empty();
        unwritten || self.is_out_of_budget(assignment)
    }

    fn is_out_of_budget(&self, assignment: &Assignment) -> bool {
        let unlimited =
            Budget { max_searches: u32::MAX, max_documents: u32::MAX, max_tokens: u32::MAX, ..assignment.budget };
        self.want(assignment, &unlimited).is_some()
    }

    fn ending(&self) -> Ending {
        let failures: Vec<&String> = self.asked.iter().filter_map(|asked| asked.failure.as_ref()).collect();
        if self.sources.is_empty()
            && failures.len() == self.asked.len()
            && let Some(reason) = failures.last()
        {
            return failure(StopReason::Error, reason);
        }
        if let Some(reason) = &self.check_failure
            && self.verified.is_empty()
        {
            return failure(StopReason::Error, reason);
        }
        let is_answered = || (0..self.questions.len()).any(|question| coverage::is_answered(self, question));
        // A structured report can cite nothing although the notes answer: its problems say why.
        let has_report = self
            .draft
            .as_ref()
            .is_some_and(|draft| !draft.citations.is_empty() || (draft.format == Format::Structured && is_answered()));
        let stop_reason = if self.budget_reached {
            StopReason::BudgetReached
        } else if has_report {
            StopReason::Answered
        } else {
            StopReason::NoSources
        };
        Ending { stop_reason, failed: false, message: None }
    }
}

fn failure(stop_reason: StopReason, message: &str) -> Ending {
    Ending { stop_reason, failed: true, message: Some(message.to_owned()) }
}
