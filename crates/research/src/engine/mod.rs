//! State machine of a research run, without I/O, clock or randomness.
//!
//! ```text
//! plan -> search -> read -> judge -> (next round) -> write -> check -> finish
//! ```
//!
//! [`State::next`] returns the next [`Step`], the caller executes it, and [`State::apply`] adds its [`Outcome`]. Equal
//! outcomes yield equal runs, also if the state was stored and read back in between.

mod apply;
mod assignment;
mod decide;
mod event;
mod gather;
mod notes;
mod plan;
mod progress;
mod prompt;
mod prompts;
mod quotes;
mod report;
mod result;
mod select;
mod state;
mod step;
mod stored;
pub mod structured;
mod text;
pub mod verify;

pub use assignment::{
    Assignment, Budget, DEFAULT_ANSWER_TOKENS, DEFAULT_REPORT_CHARS, Depth, Format, MAX_QUERY_CHARS, OnExceed,
    OutputSpec, PreviousReport,
};
pub use event::Event;
pub use prompt::{Prompt, Purpose};
pub use result::{Basis, Citation, Confidence, Engine, Problem, Report, Warning};
pub use state::{
    Asked, Note, NoteMatch, Phase, PlanStatus, PlanStep, Progress, Question, Read, Source, Spent, State, Term,
    VerifiedQuote, Written, WrittenBasis,
};
pub use step::{Check, CitationCheck, Ending, FoundHit, FoundPassage, Outcome, ReadText, Step, StopReason};
