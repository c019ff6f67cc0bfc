use std::time::Duration;

use model::{ResearchStatus, ResearchStop};
use research::engine::{Budget, OnExceed};

use super::world::{QUESTION, World, standard};

#[tokio::test]
async fn no_run_exceeds_its_budget() {
    let world = World::new().await;
    for (max_searches, max_documents) in [(1, 0), (1, 1), (2, 0), (2, 3), (3, 2), (24, 40)] {
        let mut new = standard(QUESTION);
        new.budget = Budget { max_searches, max_documents, ..new.budget };
        let run = world.run(new).await;
        assert!(run.searches <= max_searches && run.documents <= max_documents && run.tokens == 0);
        assert_eq!(run.status, ResearchStatus::Completed);
        world.verify(&run).await;
        if max_searches == 1 {
            assert_eq!(run.stop_reason, Some(ResearchStop::BudgetReached), "the second question was not searched");
            assert!(run.is_partial());
        }
    }
}

#[tokio::test]
async fn run_fails_out_of_budget_on_request() {
    let mut new = standard(QUESTION);
    new.budget = Budget { max_searches: 1, on_exceed: OnExceed::Fail, ..new.budget };
    let run = World::new().await.run(new).await;
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Failed, Some(ResearchStop::BudgetReached)));
    assert_eq!(run.error.unwrap().code, "budget_reached");
}

#[tokio::test]
async fn time_that_is_over_begins_no_step() {
    let world = World::new().await;
    let mut new = standard(QUESTION);
    new.budget.max_seconds = 10;
    world.app.engine.hold();
    let id = world.create(new).await;
    let _working = world.app.work_on_research();
    world.app.engine.reached(1).await;
    world.app.clock.advance(Duration::from_secs(11));
    world.app.engine.release();
    let run = world.ended(id).await;
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Completed, Some(ResearchStop::BudgetReached)));
    assert_eq!((run.searches, world.app.engine.requests().len()), (1, 1));
}
