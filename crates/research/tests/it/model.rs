//! Runs with a model: honest, failing and lying.

use research::engine::{Engine, Outcome, Purpose, Step, Warning};

use crate::world::{OILS, World, assignment, generated, manuals, page, with_model, writes};

fn world() -> World<'static> {
    World::of(vec![
        page(
            "https://a.example/tea",
            "Tea",
            "Green tea is steeped at 80 °C for two minutes. Boiling water burns it.\n",
        ),
        page("https://b.example/tea", "Leaves", "Black tea takes boiling water for four minutes, says the grower.\n"),
    ])
}

const QUERY: &str = "How is green tea steeped?";

#[test]
fn a_model_writes_from_the_notes() {
    let mut world = world();
    world.answer = writes(|_| "## Green tea\n\nSteep green tea at 80 °C for **two minutes** [1].\n".to_owned());
    let run = world.run(&with_model(QUERY));
    let report = run.report.as_ref().unwrap();
    world.check(report);
    assert_eq!(report.text, "## Green tea\n\nSteep green tea at 80 °C for two minutes. [1]");
    assert_eq!((report.engine, report.warnings.len()), (Engine::Model, 0));
    assert_eq!(report.citations[0].quote, "Green tea is steeped at 80 °C for two minutes.");
}

#[test]
fn inventions_of_a_model_are_removed() {
    for (lie, expected) in [
        ("Green tea is steeped at 80 °C [1][99].", Some("Green tea is steeped at 80 °C. [1]")),
        ("Coffee was found by goats in Ethiopia long ago [42].", None),
        ("The grower says \"green tea cures every disease\" [1].", None),
        ("The page says \"Boiling water burns it\" [1].", Some("The page says \"Boiling water burns it\". [1]")),
        ("Tea is steeped, see https://evil.example/x now [1].", Some("Tea is steeped, see now. [1]")),
        (
            "Read [this](https://evil.example) and ![p](https://evil.example/p.png) tea [1].",
            Some("Read this and tea. [1]"),
        ),
        (
            "Boiling water burns green tea; <img src=x> so it is [1].",
            Some("Boiling water burns green tea; so it is. [1]"),
        ),
        (
            "Green tea ht\u{200b}tps://evil.example/x is steeped at 80 °C [1].",
            Some("Green tea is steeped at 80 °C. [1]"),
        ),
        (
            "Green tea of https://a.example/tea)https://evil.example/x is steeped at 80 °C [1].",
            Some("Green tea of https:\\//a.example/tea) is steeped at 80 °C. [1]"),
        ),
        ("Green tea is steeped at 80 °C for two minutes.", Some("Green tea is steeped at 80 °C for two minutes. [1]")),
    ] {
        let mut world = world();
        world.answer = writes(|_| format!("{lie}\n\nBlack tea takes boiling water [2].\n"));
        let run = world.run(&with_model("How is green tea steeped, and black tea?"));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        let rest = if expected.is_some() {
            "Black tea takes boiling water. [2]"
        } else {
            "Black tea takes boiling water. [1]"
        };
        let whole = expected.map_or(rest.to_owned(), |kept| format!("{kept}\n\n{rest}"));
        assert_eq!(report.text, whole, "{lie}");
    }
}

#[test]
fn sentence_in_which_an_answer_was_cut_is_removed() {
    for (answer, expected) in [
        ("Green tea takes 80 °C [1]. Boiling water burns 4", "Green tea takes 80 °C. [1]"),
        ("Green tea takes 80 °C [1]. Boiling water burns it [", "Green tea takes 80 °C. [1]"),
        ("Green tea takes hot water. [1] Boiling\nwater burns green", "Green tea takes hot water. [1]"),
        ("- Green tea takes 80 °C [1].\n- Boiling water burns green", "- Green tea takes 80 °C. [1]"),
        ("Green tea takes 80 °C [1].\n\n## Black te", "Green tea takes 80 °C. [1]"),
        (
            "Green tea is steeped at 80 °C for two minutes.\n\nBoiling water burns it [1].",
            "Green tea is steeped at 80 °C for two minutes. [1]\n\nBoiling water burns it. [2]",
        ),
    ] {
        let mut world = world();
        world.answer = Some(Box::new(move |prompt| match prompt.purpose {
            Purpose::Plan | Purpose::Judge => generated("{}"),
            Purpose::Write => Outcome::Generated { text: answer.to_owned(), tokens: None, truncated: true },
        }));
        let run = world.run(&with_model(QUERY));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        assert_eq!(
            (report.text.as_str(), report.engine, report.truncated),
            (expected, Engine::Model, true),
            "{answer}"
        );
    }
}

#[test]
fn numbers_that_no_cited_passage_states_are_removed() {
    for (answer, expected) in [
        ("Green tea is steeped at 900 °C and explodes [1].", None),
        ("## Green tea at 900 °C\n\nBoiling water burns it [1].", Some("Boiling water burns it. [1]")),
        ("### 2.1 Heat\n\nBoiling water burns it [1].", Some("## 2.1 Heat\n\nBoiling water burns it. [1]")),
        ("## 13. Heat of 80 °C\n\nIt burns it [1].", Some("## 13\\. Heat of 80 °C\n\nIt burns it. [1]")),
        ("## 13. Heat of 900 °C\n\nBoiling water burns it [1].", Some("Boiling water burns it. [1]")),
        ("## 2.5 million leaves\n\nBoiling water burns it [1].", Some("Boiling water burns it. [1]")),
        ("1.1. Boiling water burns it [1].", Some("- Boiling water burns it. [1]")),
        ("1.1. Green tea is steeped at 900 °C [1].", None),
        ("Green tea is steeped at 80 °C (176 °F) [1].", Some("Green tea is steeped at 80 °C. [1]")),
        ("Green tea is steeped at 80 °C for 2 minutes [1].", Some("Green tea is steeped at 80 °C for 2 minutes. [1]")),
        ("In 2024 green tea is steeped at 80 °C [1].", Some("In 2024 green tea is steeped at 80 °C. [1]")),
        ("In 2023 green tea is steeped at 80 °C [1].", None),
        (
            "Green tea takes 80 °C, 20 °C less than water that boils at 100 °C [1][2].",
            Some("Green tea takes 80 °C, 20 °C less than water that boils at 100 °C. [1][2]"),
        ),
        ("Green tea takes water of 100 °C [1].", None),
    ] {
        let mut world = World::of(vec![
            page(
                "https://a.example/tea",
                "Tea",
                "Green tea takes water of 80 °C for two minutes. Boiling water burns it.\n",
            ),
            page("https://b.example/tea", "Water", "Water for black tea boils at 100 °C, not at less.\n"),
        ]);
        world.answer = writes(|_| answer.to_owned());
        let run = world.run(&with_model("How is green tea steeped in 2024, and at what heat does water boil?"));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        let text = (report.engine == Engine::Model).then(|| report.text.split("\n\n## Not").next().unwrap_or_default());
        assert_eq!(text, expected, "{answer}");
    }
}

#[test]
fn marks_of_a_page_are_no_part_of_its_words() {
    let text = "The bridge opened in 1937,[2] two years late.";
    for (quote, engine) in [
        ("opened in 1937, two years late", Engine::Model),
        ("opened in 1937,(2) two years late", Engine::Model),
        ("opened in 1938, two years late", Engine::Extractive),
    ] {
        let mut world = World::of(vec![page("https://a.example/bridge", "Bridge", &format!("{text}\n"))]);
        world.answer = writes(|_| format!("The bridge “{quote}” [1].\n"));
        let run = world.run(&with_model("When did the bridge open?"));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        assert_eq!((report.engine, report.citations[0].quote.as_str()), (engine, text), "{quote}");
    }
}

#[test]
fn addresses_of_links_are_no_part_of_the_words_of_a_page() {
    let text = "The bridge [was opened](https://x.example/a) in 1937,[2] two years late.";
    for (quote, engine) in [
        ("was opened in 1937, two years late", Engine::Model),
        ("was opened in 1937,(2) two years late", Engine::Model),
        ("[was opened](https://x.example/a) in 1937", Engine::Model),
        ("was opened in 1938", Engine::Extractive),
    ] {
        let mut world = World::of(vec![page("https://a.example/bridge", "Bridge", &format!("{text}\n"))]);
        world.answer = writes(|_| format!("The report says “{quote}” [1].\n"));
        let run = world.run(&with_model("When was the bridge opened?"));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        assert_eq!((report.engine, report.citations[0].quote.as_str()), (engine, text), "{quote}");
    }
}

#[test]
fn quotes_in_all_scripts_and_quotation_marks_are_compared() {
    let text = "The bridge opened in 1937 at last: 橋は1937年に開通した。";
    for (quote, engine) in [
        ("「1937年に開通した」", Engine::Model),
        ("「1937 年に\u{3000}開通した」", Engine::Model),
        ("「1938年に開通した」", Engine::Extractive),
        ("『1938年に開通した』", Engine::Extractive),
        ("„opened in 1937 at last”", Engine::Model),
        ("„opened in 1938 at last”", Engine::Extractive),
        ("„opened in 1938 at last“", Engine::Extractive),
        ("”opened in 1938 at last”", Engine::Extractive),
        ("»opened in 1938 at last«", Engine::Extractive),
        ("»opened in 1938 at last»", Engine::Extractive),
        ("‹opened in 1938 at last›", Engine::Extractive),
        // Terms.
        ("「橋が開く」", Engine::Model),
        ("”the opening”", Engine::Model),
        // The words between two quotes are none.
        ("“opened in 1937” as was planned and “at last”", Engine::Model),
        ("« opened in 1937 » as was planned and « at last »", Engine::Model),
        ("„opened in 1937” as was planned and „at last”", Engine::Model),
    ] {
        let mut world = World::of(vec![page("https://a.example/bridge", "Bridge", &format!("{text}\n"))]);
        world.answer = writes(|_| format!("The bridge {quote} [1].\n"));
        let run = world.run(&with_model("When did the bridge open?"));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        assert_eq!((report.engine, report.citations[0].quote.as_str()), (engine, text), "{quote}");
    }
}

#[test]
fn sentences_without_a_mark_are_compared_up_to_a_limit() {
    let unmarked = "- Green tea is steeped at 80 °C for two minutes.\n".repeat(3_000);
    let mut world = world();
    world.answer = writes(|_| format!("Boiling water burns green tea [1].\n\n{unmarked}"));
    let mut long = with_model(QUERY);
    long.output.max_chars = 1_000_000;
    let run = world.run(&long);
    let report = run.report.as_ref().unwrap();
    world.check(report);
    assert_eq!(report.engine, Engine::Model);
    assert_eq!(report.text.matches("80 °C").count(), 500);
}

#[test]
fn headings_name_no_address_that_is_not_a_source() {
    for (heading, expected) in [
        ("## Visit https://evil.example/x now", "## Visit now\n\n"),
        ("## [Log in](https://evil.example/x)", "## Log in\n\n"),
        ("## ht\u{200b}tps://evil.example/x", ""),
        ("# https://evil.example/ www.evil.example", ""),
        ("## — [1]", ""),
        ("## Tea of https://a.example/tea", "## Tea of https:\\//a.example/tea\n\n"),
    ] {
        let mut world = world();
        world.answer = writes(|_| format!("{heading}\n\nGreen tea is steeped at 80 °C [1].\n"));
        let run = world.run(&with_model(QUERY));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        assert_eq!(report.text, format!("{expected}Green tea is steeped at 80 °C. [1]"), "{heading}");
    }
}

#[test]
fn a_run_is_never_lost_with_its_model() {
    let extractive = world().run(&assignment(QUERY)).text().to_owned();
    let failed = || Outcome::ModelFailed { reason: "down".to_owned(), tokens: None };
    for fails_at in [Some(Purpose::Plan), Some(Purpose::Judge), Some(Purpose::Write), None] {
        let mut world = world();
        world.answer = Some(Box::new(move |prompt| match fails_at {
            Some(purpose) if prompt.purpose == purpose => failed(),
            _ => generated("I am sorry, I cannot."),
        }));
        let run = world.run(&with_model(QUERY));
        let report = run.report.as_ref().unwrap();
        assert_eq!((report.text.as_str(), report.engine), (&*extractive, Engine::Extractive), "{fails_at:?}");
        assert_eq!(report.warnings, [Warning::SynthesisUnavailable]);
    }
}

#[test]
fn a_failed_model_is_not_asked_again() {
    let mut world = world();
    world.answer = Some(Box::new(|_| Outcome::ModelFailed { reason: "down".to_owned(), tokens: None }));
    world.run(&with_model(QUERY));
    assert_eq!(world.steps.borrow().iter().filter(|step| matches!(step, Step::Generate(_))).count(), 1);
}

#[test]
fn planned_questions_replace_those_of_the_rules() {
    let mut world = world();
    world.answer = Some(Box::new(|prompt| match prompt.purpose {
        Purpose::Plan => {
            generated("```json\n{\"questions\": [\"How hot is the water for green tea?\", \"How long?\",]}\n```")
        }
        Purpose::Judge => {
            generated("{\"verdicts\": [{\"question\": 1, \"answered\": true, \"notes\": [1, 77]}, {\"question\": 99")
        }
        Purpose::Write => generated("The water has 80 °C [1]."),
    }));
    let run = world.run(&with_model(QUERY));
    let questions: Vec<&str> = run.state.questions.iter().map(|question| question.text.as_str()).collect();
    assert_eq!(questions, ["How hot is the water for green tea?", "How long?"]);
    world.check(run.report.as_ref().unwrap());
}

#[test]
fn a_model_is_shown_passages_that_differ_in_one_sentence() {
    let mut world = manuals();
    world.answer = writes(|prompt| {
        assert!(OILS.iter().all(|oil| prompt.material.contains(oil)), "{}", prompt.material);
        "The bearing of the X200 pump takes mineral oil [1], synthetic oil [2] or castor oil [3].".to_owned()
    });
    let run = world.run(&with_model("Which oil does the bearing of the X200 pump take?"));
    let report = run.report.as_ref().unwrap();
    world.check(report);
    assert_eq!((report.engine, report.citations.len()), (Engine::Model, 3));
    for (citation, oil) in report.citations.iter().zip(OILS) {
        assert!(citation.quote.contains(oil), "{citation:?}");
    }
}
