//! Research runs: creation, leases, steps, ends.

use docstore::{
    BalanceEntry, ClaimedResearch, Details, NewResearchEvent, NewWebhookEvent, ResearchEnd, ResearchProgress,
    ResearchRun, ResearchStep, Strings,
};
use model::{OrganizationId, ResearchId, ResearchStatus, ResearchStop, SearchId, WebhookEvent};
use uuid::Uuid;

use crate::balances::entry;
use crate::support::{Database, NOW, at, new_organization, new_research, new_webhook};

on_both_backends!(
    unfinished_runs_are_limited,
    claims_take_turns_and_are_exclusive_until_expiry,
    concurrent_claims_of_research_are_exclusive,
    steps_need_the_lease,
    end_enqueues_its_deliveries_once,
    cancelled_run_is_lost_to_its_worker,
    runs_are_listed_by_status_and_place,
    expired_research_is_pruned,
    searches_of_a_deleted_run_are_not_unstored,
);

fn event(kind: &'static str) -> NewResearchEvent {
    NewResearchEvent { kind, data: Details::default().with("kind", kind) }
}

fn step(last_sequence: i64, events: &[&'static str]) -> ResearchStep {
    let progress = ResearchProgress { searches: 1, documents: 2, tokens: 3, ..ResearchProgress::default() };
    ResearchStep {
        last_sequence,
        state: "{}".to_owned(),
        progress,
        events: events.iter().map(|kind| event(kind)).collect(),
    }
}

fn end(status: ResearchStatus) -> ResearchEnd {
    ResearchEnd {
        status,
        stop_reason: ResearchStop::Answered,
        error: None,
        output: Some("{}".to_owned()),
        progress: None,
        last_sequence: None,
        events: vec![event("output_delta")],
        cited: Vec::new(),
        cited_until: at(0),
        expires_at: at(100),
    }
}

fn ended(run: &ResearchRun, event_type: WebhookEvent) -> NewWebhookEvent {
    NewWebhookEvent { event_type, subject: run.research_id.to_string(), payload: run.status.to_string() }
}

async fn create(db: &Database, organization_id: OrganizationId, offset: i64) -> ResearchId {
    let run = ResearchRun { created_at: at(offset), ..new_research(organization_id) };
    let research_id = run.research_id;
    assert!(db.create_research(run, event("created"), 10).await.unwrap());
    research_id
}

async fn claim(db: &Database, owner: &str, now: i64) -> Option<ClaimedResearch> {
    db.claim_research(owner.to_owned(), Vec::new(), at(now), at(now + 10)).await.unwrap()
}

/// Returns the kinds of the events after a sequence.
async fn kinds(db: &Database, organization_id: OrganizationId, id: ResearchId, after: i64) -> Vec<String> {
    let events = db.list_research_events(organization_id, id, after, 100).await.unwrap();
    assert!(events.iter().zip(after + 1..).all(|(event, sequence)| event.sequence == sequence));
    events.into_iter().map(|event| event.kind).collect()
}

async fn unfinished_runs_are_limited(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let create =
        async |organization_id| db.create_research(new_research(organization_id), event("created"), 2).await.unwrap();
    assert_eq!(
        [create(ours).await, create(ours).await, create(ours).await, create(theirs).await],
        [true, true, false, true]
    );
    let claimed = claim(&db, "a", 0).await.unwrap().run;
    assert!(!create(claimed.organization_id).await || claimed.organization_id == theirs);
    assert!(db.cancel_research(ours, first(&db, ours).await, at(9), NOW, ended).await.unwrap());
    assert!(create(ours).await);
}

async fn first(db: &Database, organization_id: OrganizationId) -> ResearchId {
    let runs = db.list_research(organization_id, None, None, 10).await.unwrap();
    runs.iter().find(|run| !run.status.is_terminal()).unwrap().research_id
}

async fn claims_take_turns_and_are_exclusive_until_expiry(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let [a, b] = [create(&db, ours, 0).await, create(&db, ours, 1).await];
    let c = create(&db, theirs, 2).await;
    let mut claimed = Vec::new();
    for owner in ["1", "2", "3"] {
        claimed.push(claim(&db, owner, 5).await.unwrap().run.research_id);
    }
    assert_eq!(claimed, [a, c, b]);
    assert!(claim(&db, "4", 14).await.is_none());
    let taken = claim(&db, "4", 15).await.unwrap().run;
    assert_eq!((taken.research_id, taken.attempts, taken.started_at), (a, 2, Some(at(5))));
    assert_eq!(kinds(&db, ours, a, 0).await, ["created", "started"]);
    let kept = db.extend_research_leases(vec![(a, "1".to_owned()), (c, "2".to_owned())], at(50)).await.unwrap();
    assert_eq!(kept, [c]);
    db.release_research(b, "3".to_owned()).await.unwrap();
    assert_eq!(claim(&db, "5", 16).await.unwrap().run.research_id, b);
    assert_eq!(db.expire_research_leases().await.unwrap(), 3);
}

async fn concurrent_claims_of_research_are_exclusive(db: Database) {
    let organization_id = new_organization(&db).await;
    for offset in 0..4 {
        create(&db, organization_id, offset).await;
    }
    let stores = [db.another_store(), db.another_store(), db.another_store()];
    let claiming = stores.iter().flat_map(|store| (0..4).map(move |_| store)).enumerate();
    let claiming = claiming.map(|(n, store)| async move {
        let claimed = store.claim_research(format!("{n}"), Vec::new(), at(5), at(15)).await.unwrap();
        claimed.map(|claimed| claimed.run.research_id)
    });
    let mut claimed: Vec<ResearchId> = futures_util::future::join_all(claiming).await.into_iter().flatten().collect();
    let count = claimed.len();
    claimed.sort_unstable();
    claimed.dedup();
    assert_eq!(claimed.len(), count, "no run is claimed twice");
    while claim(&db, "rest", 5).await.is_some() {}
    let owners = db.number("count(DISTINCT lease_owner)", "research_runs WHERE status = 'running'").await;
    assert!(owners as usize >= count);
}

async fn steps_need_the_lease(db: Database) {
    let organization_id = new_organization(&db).await;
    let id = create(&db, organization_id, 0).await;
    claim(&db, "a", 0).await.unwrap();
    let record = async |owner: &str, last_sequence: i64, events: &[&'static str]| {
        db.record_research_step(id, owner.to_owned(), step(last_sequence, events), at(1), at(20)).await.unwrap()
    };
    for _ in 0..2 {
        assert!(record("a", 2, &["plan", "search"]).await, "a repeated step is stored once");
    }
    assert!(!record("b", 4, &["search"]).await);
    assert!(record("a", 4, &[]).await && record("a", 4, &["note"]).await);
    assert!(!record("a", 6, &["note"]).await, "a lost step is missing");
    let incomplete = ResearchEnd { last_sequence: Some(6), ..end(ResearchStatus::Completed) };
    assert!(!db.finish_research(id, "a".to_owned(), incomplete, at(2), ended).await.unwrap());
    assert_eq!(kinds(&db, organization_id, id, 2).await, ["plan", "search", "note"]);
    let (run, output) = db.find_research(organization_id, id).await.unwrap().unwrap();
    assert_eq!((run.searches, run.documents, run.tokens, run.attempts, run.last_sequence), (1, 2, 3, 0, 5));
    assert!(output.is_none());
    let again = claim(&db, "b", 20).await.unwrap();
    assert_eq!(again.state, "{}");
    assert!(!record("a", 5, &["search"]).await, "the lease is lost");
    let other = new_organization(&db).await;
    assert!(db.find_research(other, id).await.unwrap().is_none());
    assert!(db.find_research_status(other, id).await.unwrap().is_none());
    assert!(kinds(&db, other, id, 0).await.is_empty());
}

async fn end_enqueues_its_deliveries_once(db: Database) {
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, &["research.completed"]).await;
    let run = ResearchRun {
        webhook_url: Some("https://example.com/".to_owned()),
        webhook_secret: Some("secret".to_owned()),
        webhook_events: Some(Strings(vec!["research.completed".to_owned()])),
        ..new_research(organization_id)
    };
    let id = run.research_id;
    assert!(db.create_research(run, event("created"), 10).await.unwrap());
    claim(&db, "a", 0).await.unwrap();
    let finish = async |owner: &str| {
        db.finish_research(id, owner.to_owned(), end(ResearchStatus::Completed), at(3), ended).await.unwrap()
    };
    assert!(!finish("b").await);
    assert_eq!(db.count("webhook_deliveries").await, 0);
    assert!(finish("a").await);
    assert!(!finish("a").await);
    let claimed = db.claim_deliveries("d".to_owned(), at(5), at(9), 10, 10).await.unwrap();
    assert_eq!(claimed.len(), 2);
    assert!(claimed.iter().all(|one| one.delivery.payload == "completed"));
    assert_eq!(claimed.iter().filter(|one| one.delivery.url.is_some()).count(), 1);
    let (run, output) = db.find_research(organization_id, id).await.unwrap().unwrap();
    assert_eq!((run.status, run.completed_at, output.as_deref()), (ResearchStatus::Completed, Some(at(3)), Some("{}")));
    assert_eq!(kinds(&db, organization_id, id, 0).await, ["created", "started", "output_delta", "completed"]);
    assert_eq!(db.count("research_runs WHERE state <> '' OR request <> ''").await, 0);
}

async fn cancelled_run_is_lost_to_its_worker(db: Database) {
    let organization_id = new_organization(&db).await;
    let id = create(&db, organization_id, 0).await;
    claim(&db, "a", 0).await.unwrap();
    for _ in 0..2 {
        assert!(db.cancel_research(organization_id, id, at(9), at(2), ended).await.unwrap());
    }
    assert!(!db.record_research_step(id, "a".to_owned(), step(2, &["search"]), at(3), at(20)).await.unwrap());
    assert!(!db.finish_research(id, "a".to_owned(), end(ResearchStatus::Completed), at(3), ended).await.unwrap());
    assert_eq!(kinds(&db, organization_id, id, 0).await, ["created", "started", "cancelled"]);
    assert_eq!(db.count("research_runs WHERE request <> ''").await, 0);
    let other = new_organization(&db).await;
    assert!(!db.cancel_research(other, id, at(9), at(2), ended).await.unwrap());
    assert!(!db.delete_research(other, id, at(2), ended).await.unwrap());
    assert!(db.delete_research(organization_id, id, at(2), ended).await.unwrap());
    assert_eq!(db.count("research_events").await, 0);
}

async fn runs_are_listed_by_status_and_place(db: Database) {
    let organization_id = new_organization(&db).await;
    // The first two have the same time.
    let mut ids = vec![create(&db, organization_id, 0).await, create(&db, organization_id, 0).await];
    ids.sort_unstable();
    ids.push(create(&db, organization_id, 1).await);
    ids.reverse();
    db.cancel_research(organization_id, ids[1], at(9), at(2), ended).await.unwrap();
    let list = async |status, before| {
        let runs = db.list_research(organization_id, status, before, 10).await.unwrap();
        runs.into_iter().map(|run| run.research_id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None).await, ids);
    assert_eq!(list(None, Some((NOW, ids[1]))).await, ids[2..]);
    assert_eq!(list(Some(ResearchStatus::Cancelled), None).await, [ids[1]]);
    assert!(list(None, Some((NOW, Uuid::nil().into()))).await.is_empty());
}

async fn expired_research_is_pruned(db: Database) {
    let organization_id = new_organization(&db).await;
    let mut ids = Vec::new();
    for (offset, expires) in [(0, 10), (1, 20), (2, 5), (3, 5)] {
        let run = ResearchRun { created_at: at(offset), expires_at: at(expires), ..new_research(organization_id) };
        ids.push(run.research_id);
        assert!(db.create_research(run, event("created"), 10).await.unwrap());
    }
    let [first, second, running, queued] = ids[..] else { panic!("{ids:?}") };
    for (id, expires) in [(first, 10), (second, 20)] {
        assert!(db.cancel_research(organization_id, id, at(expires), at(4), ended).await.unwrap());
    }
    assert_eq!(claim(&db, "a", 4).await.map(|claimed| claimed.run.research_id), Some(running));
    assert_eq!(db.prune_research(at(9), 10).await.unwrap(), 0);
    assert_eq!(db.prune_research(at(10), 10).await.unwrap(), 1);
    assert_eq!(kinds(&db, organization_id, second, 0).await, ["created", "cancelled"]);
    // The runs that have not ended expired earlier, and fill no batch.
    assert_eq!(db.prune_research(at(20), 1).await.unwrap(), 1);
    assert_eq!((db.count("research_runs").await, db.count("research_events").await), (2, 3));
    assert_eq!(kinds(&db, organization_id, queued, 0).await, ["created"]);
}

async fn searches_of_a_deleted_run_are_not_unstored(db: Database) {
    let organization_id = new_organization(&db).await;
    let id = create(&db, organization_id, 0).await;
    claim(&db, "a", 0).await.unwrap();
    db.post_balance_entry(entry(organization_id, 10)).await.unwrap();
    let [stored, unstored] = [SearchId(Uuid::new_v4()), SearchId(Uuid::new_v4())];
    for search_id in [stored, unstored] {
        let search_id = Some(search_id);
        let debit = BalanceEntry { search_id, research_id: Some(id), ..entry(organization_id, -3) };
        db.post_balance_entry(debit).await.unwrap();
    }
    let data = Details::default().with("search_id", stored.to_string());
    let search = ResearchStep { events: vec![NewResearchEvent { kind: "search", data }], ..step(2, &[]) };
    assert!(db.record_research_step(id, "a".to_owned(), search, at(1), at(20)).await.unwrap());
    let found = async || db.find_unstored_searches(organization_id, id).await.unwrap();
    assert_eq!(found().await, Some(vec![unstored]));
    assert!(db.delete_research(organization_id, id, at(2), ended).await.unwrap());
    assert_eq!(found().await, None);
}
