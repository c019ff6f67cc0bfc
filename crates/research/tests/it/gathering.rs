//! Searching and reading.

use std::time::Duration;

use model::{CaptureId, DocId, IndexName, Timestamp};
use research::engine::{
    Assignment, Depth, FoundHit, FoundPassage, Outcome, PreviousReport, Prompt, Purpose, ReadText, State, Step,
};
use uuid::Uuid;

use crate::world::{Page, World, assignment, generated, page, with_model};

fn read(world: &World<'_>) -> Vec<&'static str> {
    let url = |doc_id| world.pages.iter().find(|page| page.doc_id() == doc_id).map(|page| page.url);
    let steps = world.steps.borrow();
    steps.iter().filter_map(|step| if let Step::Read { doc_id, .. } = step { url(*doc_id) } else { None }).collect()
}

fn searches(world: &World<'_>) -> Vec<Vec<String>> {
    let steps = world.steps.borrow();
    let wordings = |step: &Step| match step {
        Step::Search { search_queries, .. } => Some(search_queries.clone()),
        Step::Read { .. } | Step::Generate(_) | Step::Check { .. } | Step::Finish(_) => None,
    };
    steps.iter().filter_map(wordings).collect()
}

#[test]
fn hosts_take_turns_and_files_count_like_pages() {
    let text = |number: usize| format!("Otters of river {number} eat fish, crabs and frogs in season {number}.\n");
    let urls = [
        "https://a.example/1",
        "https://a.example/2",
        "https://a.example/3",
        "https://a.example/4",
        "https://b.example/1",
        "workspace://o/otters.txt",
    ];
    let pages: Vec<Page> = urls.iter().enumerate().map(|(at, url)| page(url, "Otters", &text(at))).collect();
    let world = World::of(pages);
    world.run(&assignment("What do otters eat?"));
    let read = read(&world);
    assert_eq!(read[0], "https://a.example/1");
    assert!(
        read[1..3].contains(&"https://b.example/1") && read[1..3].contains(&"workspace://o/otters.txt"),
        "{read:?}"
    );
}

#[test]
fn copies_are_not_read() {
    let text = "Otters eat fish, crabs and frogs. They hunt at night along the banks of quiet rivers.\n";
    let world = World::of(vec![
        page("https://a.example/1", "Otters", text),
        page("https://b.example/copy", "Otters", text),
        page("https://c.example/other", "Otters", "Otters of the sea eat sea urchins and clams all day long.\n"),
    ]);
    let run = world.run(&assignment("What do otters eat?"));
    assert!(!read(&world).contains(&"https://b.example/copy"));
    assert!(run.text().contains("also in 1 other source"), "{}", run.text());
}

#[test]
fn a_gap_is_searched_in_other_words_until_nothing_is_new() {
    let world = World::of(vec![
        page("https://a.example/", "Otters", "Otters eat fish in rivers.\n"),
        page("https://b.example/", "Otters", "Otters sleep in dens.\n"),
    ]);
    let run = world.run(&assignment("How do otters of Patagonia hibernate?"));
    let searches = searches(&world);
    assert!(searches.len() > 1, "{searches:?}");
    assert!(searches[1][0].contains("patagonia") && searches[1][0].contains("hibernate"), "{searches:?}");
    let mut wordings = searches.concat();
    let count = wordings.len();
    wordings.sort();
    wordings.dedup();
    assert_eq!(wordings.len(), count, "no wording is searched twice");
    assert_eq!(run.report.unwrap().unanswered, ["How do otters of Patagonia hibernate?"]);
}

#[test]
fn questions_beyond_the_limit_are_listed_as_unanswered() {
    let query = "- otters\n- beavers\n- herons\n- frogs\n- crabs";
    let world =
        World::of(vec![page("https://a.example/", "Otters", "Otters and beavers, herons, frogs, crabs live.\n")]);
    let quick = Assignment { depth: Depth::Quick, ..assignment(query) };
    let run = world.run(&quick);
    assert_eq!(run.state.questions.len(), 3);
    assert_eq!(run.report.unwrap().unanswered, ["frogs", "crabs"]);
}

#[test]
fn a_follow_up_keeps_the_subject_of_the_earlier_run() {
    let previous = PreviousReport { query: "What do sea otters eat?".to_owned(), ..PreviousReport::default() };
    let assignment = Assignment { previous: Some(previous), ..assignment("And in winter?") };
    let Step::Search { search_queries, .. } = State::new(&assignment).next(&assignment, Duration::ZERO) else {
        panic!("the first step is a search")
    };
    assert!(search_queries[0].contains("sea otters"), "{search_queries:?}");
}

#[test]
fn a_document_under_another_id_is_not_read() {
    let world = World::of(vec![page("https://a.example/", "Otters", "Otters eat fish in rivers.\n")]);
    let assignment = assignment("What do otters eat?");
    let mut state = State::new(&assignment);
    loop {
        let step = state.next(&assignment, Duration::ZERO);
        let mut outcome = match &step {
            Step::Finish(_) => break,
            step => world.execute(step),
        };
        if let Outcome::Document(read) = &mut outcome {
            read.doc_id = model::DocId(uuid::Uuid::nil());
            read.passages[0].text = "Otters eat planted text in rivers.".to_owned();
        }
        state.apply(&assignment, &step, outcome);
    }
    assert!(state.notes.iter().all(|note| !note.text.contains("planted")));
    assert!(state.sources[0].reads.iter().all(|read| !read.readable));
}

fn passages(texts: &[&str]) -> Vec<FoundPassage> {
    texts.iter().map(|text| FoundPassage { text: (*text).to_owned(), ..FoundPassage::default() }).collect()
}

/// Adds a search that finds one document.
fn find(state: &mut State, assignment: &Assignment, question: usize, texts: &[&str]) {
    let search_queries = vec![format!("query {question}")];
    let step = Step::Search { question, query: "query".to_owned(), search_queries };
    let hit = FoundHit {
        doc_id: DocId(Uuid::nil()),
        canonical_url: "https://a.example/".to_owned(),
        title: None,
        index: IndexName::Web,
        published_at: None,
        language: Some("en".to_owned()),
        capture_id: CaptureId(Uuid::nil()),
        capture_time: Timestamp::UNIX_EPOCH,
        passages: passages(texts),
    };
    state.apply(assignment, &step, Outcome::Found(vec![hit]));
}

#[test]
fn a_passage_belongs_to_each_question_whose_search_ranks_it_first() {
    let assignment = with_model("- Which grease does the X200 pump take?\n- How often do workshops replace its seal?");
    let mut state = State::new(&assignment);
    assert_eq!(state.questions.len(), 2);
    let text = "The X200 pump takes lithium grease of class NLGI 2.";
    find(&mut state, &assignment, 0, &[text]);
    let seen = state.questions[1].passages_seen;
    find(&mut state, &assignment, 1, &[text]);
    assert_eq!(state.notes.len(), 1);
    let questions: Vec<usize> = state.notes[0].matches.iter().map(|found| found.question).collect();
    assert_eq!(questions, [0, 1]);
    assert_eq!(state.questions[1].passages_seen, seen, "it is counted once");

    let judge = Step::Generate(Prompt {
        purpose: Purpose::Judge,
        system: String::new(),
        material: String::new(),
        instructions: String::new(),
        schema: None,
        max_tokens: 100,
        shown: vec![0],
    });
    let verdict = "{\"verdicts\": [{\"question\": 2, \"answered\": true, \"notes\": [1]}]}";
    state.apply(&assignment, &judge, generated(verdict));
    assert!(state.notes[0].matches[1].judged);
}

#[test]
fn best_passages_of_a_document_are_kept_wherever_they_stand() {
    let assignment = assignment("X200 pump grease torque voltage pressure colour weight noise");
    let mut state = State::new(&assignment);
    assert_eq!(state.questions.len(), 1);
    find(&mut state, &assignment, 0, &[]);
    let doc_id = state.sources[0].doc_id;
    let step = Step::Read { question: 0, doc_id, query: "query".to_owned() };
    let read = ReadText {
        doc_id,
        title: None,
        published_at: None,
        language: Some("en".to_owned()),
        capture_id: CaptureId(Uuid::nil()),
        capture_time: Timestamp::UNIX_EPOCH,
        passages: passages(&[
            "A pump needs care in summer.",
            "The maker of this pump lives in Graz.",
            "Bearings take grease at a low torque.",
        ]),
    };
    state.apply(&assignment, &step, Outcome::Document(read));
    assert_eq!(state.notes.len(), 2, "{:?}", state.notes);
    assert!(state.notes.iter().any(|note| note.text.contains("torque")), "{:?}", state.notes);
}
