//! Progress of a run.

use super::notes::coverage;
use super::state::{Phase, PlanStatus, PlanStep, Progress, Question, State};

impl State {
    /// Returns the progress for pollers.
    pub fn progress(&self) -> Progress {
        let step = |(at, question): (usize, &Question)| {
            let is_asked = self.asked.iter().any(|asked| asked.question == at);
            let is_done = self.draft.is_some() || matches!(self.phase, Phase::Writing | Phase::Verifying | Phase::Done);
            let status = match (is_asked, coverage::is_answered(self, at)) {
                (true, true) => PlanStatus::Done,
                _ if is_done => PlanStatus::Unanswered,
                (true, false) => PlanStatus::Running,
                (false, _) => PlanStatus::Pending,
            };
            PlanStep { step: at + 1, question: question.text.clone(), status }
        };
        Progress {
            phase: self.phase,
            searches: self.spent.searches,
            documents_read: self.spent.documents,
            passages_kept: self.notes.len(),
            plan: self.questions.iter().enumerate().map(step).collect(),
        }
    }
}
