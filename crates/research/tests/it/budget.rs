//! Limits of a run.

use std::cell::Cell;
use std::time::Duration;

use research::engine::{Budget, Depth, OnExceed, Outcome, Prompt, Purpose, State, Step, StopReason};

use crate::world::{World, assignment, generated, page, with_model, writes};

fn world(pages: usize) -> World<'static> {
    const URLS: [&str; 4] = ["https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"];
    let text = |at: usize| format!("Wind turbine number {at} has {at} blades. The rotor of plant {at} turns slowly.\n");
    World::of((0..pages).map(|at| page(URLS[at], "Wind", &text(at))).collect())
}

#[test]
fn each_limit_ends_the_research_with_a_report() {
    for (searches, documents, seconds) in [(1, 40, 300), (24, 1, 300), (24, 40, 0), (0, 0, 300)] {
        let mut limited = assignment("- wind turbine blades\n- rotor speed of the Zephyr plant\n- wind noise");
        limited.budget.max_searches = searches;
        limited.budget.max_documents = documents;
        limited.budget.max_seconds = seconds;
        let run = world(4).run(&limited);
        assert_eq!((run.ending.stop_reason, run.ending.failed), (StopReason::BudgetReached, false));
        assert!(run.state.spent.searches <= searches && run.state.spent.documents <= documents);
        assert!(run.report.is_some());

        limited.budget.on_exceed = OnExceed::Fail;
        let run = world(4).run(&limited);
        assert_eq!((run.ending.stop_reason, run.ending.failed), (StopReason::BudgetReached, true));
        assert!(run.report.is_none());
    }
}

#[test]
fn a_run_that_needs_less_is_answered() {
    let run = world(4).run(&assignment("wind turbine blades"));
    assert_eq!(run.ending.stop_reason, StopReason::Answered);
}

#[test]
fn a_quick_run_takes_few_steps() {
    let world = world(4);
    let quick = research::engine::Assignment {
        depth: Depth::Quick,
        budget: Budget::of(Depth::Quick),
        ..assignment("How many blades does a wind turbine have?")
    };
    let run = world.run(&quick);
    assert!(run.state.spent.searches <= 2 && run.state.spent.documents <= 2, "{:?}", run.state.spent);
}

#[test]
fn tokens_are_reserved_for_the_report() {
    let written = Cell::new(false);
    for max_tokens in [0, 500, 3_000, 8_000, 20_000, 150_000] {
        written.set(false);
        let mut world = world(4);
        world.answer = writes(|prompt| {
            written.set(true);
            format!("Turbines have blades [{}].", prompt.shown[0] + 1)
        });
        let mut limited = with_model("wind turbine blades");
        limited.budget.max_tokens = max_tokens;
        let run = world.run(&limited);
        assert!(run.state.spent.tokens <= u64::from(max_tokens), "{:?}", run.state.spent);
        assert!(!run.text().is_empty());
        assert_eq!(written.get(), max_tokens >= 3_000, "{max_tokens}");
    }
}

#[test]
fn absurd_token_counts_do_not_exceed_the_budget() {
    let mut world = world(4);
    world.answer =
        Some(Box::new(|_| Outcome::Generated { text: "{}".to_owned(), tokens: Some(u64::MAX), truncated: false }));
    let assignment = with_model("- wind turbine blades\n- rotor speed of the Zephyr plant");
    let run = world.run(&assignment);
    assert!(run.state.spent.tokens <= u64::from(assignment.budget.max_tokens));
}

#[test]
fn a_quarter_of_the_time_is_for_the_model_to_write() {
    let assignment = with_model("wind turbine blades");
    let mut world = world(4);
    world.answer = Some(Box::new(|_| generated("nonsense")));
    let mut state = State::new(&assignment);
    for _ in 0..2 {
        let step = state.next(&assignment, Duration::ZERO);
        let outcome = world.execute(&step);
        state.apply(&assignment, &step, outcome);
    }
    assert!(matches!(state.next(&assignment, Duration::from_secs(230)), Step::Generate(_)));
    assert!(matches!(state.next(&assignment, Duration::from_secs(300)), Step::Check { .. }));
}

#[test]
fn time_that_ends_while_the_model_writes_is_budget_reached() {
    for on_exceed in [OnExceed::ReturnPartial, OnExceed::Fail] {
        let mut assignment = with_model("wind turbine blades");
        assignment.budget.on_exceed = on_exceed;
        let mut world = world(4);
        world.answer = Some(Box::new(|_| generated("nonsense")));
        let mut state = State::new(&assignment);
        let mut elapsed = Duration::ZERO;
        let ending = loop {
            let step = state.next(&assignment, elapsed);
            let outcome = match &step {
                Step::Finish(ending) => break ending.clone(),
                Step::Generate(prompt) if prompt.purpose == Purpose::Write => {
                    elapsed = assignment.budget.duration();
                    Outcome::ModelFailed { reason: "the time is over".to_owned(), tokens: None }
                }
                step => world.execute(step),
            };
            state.apply(&assignment, &step, outcome);
        };
        let fails = on_exceed == OnExceed::Fail;
        assert_eq!((ending.stop_reason, ending.failed), (StopReason::BudgetReached, fails));
        assert_eq!(state.report().is_some_and(|report| !report.citations.is_empty()), !fails);
    }
}

#[test]
fn planning_and_judging_leave_time() {
    let assignment = with_model("wind turbine blades");
    let state = State::new(&assignment);
    let plan = state.next(&assignment, Duration::ZERO);
    let Step::Generate(prompt) = &plan else { panic!("a model plans") };
    let judge = Step::Generate(Prompt { purpose: Purpose::Judge, ..prompt.clone() });
    let write = Step::Generate(Prompt { purpose: Purpose::Write, ..prompt.clone() });
    let left = |step: &Step| state.time_for(&assignment, step, Duration::from_secs(25)).as_secs();
    assert_eq!((left(&plan), left(&judge), left(&write)), (100, 200, 275));
}

#[test]
fn failing_searches_are_an_error() {
    let assignment = assignment("wind");
    let mut state = State::new(&assignment);
    let ending = loop {
        match state.next(&assignment, Duration::ZERO) {
            Step::Finish(ending) => break ending,
            step @ Step::Check { .. } => drop(state.apply(&assignment, &step, Outcome::Checked(vec![]))),
            step => drop(state.apply(&assignment, &step, Outcome::SourceFailed { reason: "down".to_owned() })),
        }
    };
    assert_eq!((ending.stop_reason, ending.failed, ending.message.as_deref()), (StopReason::Error, true, Some("down")));
}
