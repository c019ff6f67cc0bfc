//! Searching and reading.

use std::time::Duration;

use research::engine::{Assignment, Depth, Outcome, PreviousReport, State, Step};

use crate::world::{Page, World, assignment, page};

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
