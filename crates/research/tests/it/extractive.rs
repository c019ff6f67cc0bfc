//! Reports without a model.

use research::engine::{Depth, Engine, Format, StopReason, Warning};

use crate::world::{OILS, Page, World, assignment, manuals, page};

fn pumps() -> World<'static> {
    World::of(vec![
        page(
            "https://pumps.example/manual",
            "Pump manual",
            "# X200 pump\n\nThe X200 pump takes NLGI 2 grease for its bearing. Use no other grease.\n\n## Service\n\nThe \
             service interval of the X200 pump is 12 months in normal use. Staff must be trained for the service.\n",
        )
        .published(1_710_201_600_000),
        page(
            "https://copy.example/x200",
            "Copy of the manual",
            "# X200 pump\n\nThe X200 pump takes NLGI 2 grease for its bearing. Use no other grease.\n",
        ),
        page(
            "https://forum.example/thread",
            "Forum",
            "# Talk\n\nThe service interval of the X200 pump is 6 months in normal use, says the dealer.\n",
        ),
        page("https://other.example/", "Cars", "# Cars\n\nCars need tyres. Tyres need air.\n"),
    ])
}

#[test]
fn the_best_sentence_comes_first_and_nothing_twice() {
    let world = pumps();
    let run = world.run(&assignment("Which grease does the X200 pump take?"));
    let report = run.report.as_ref().unwrap();
    world.check(report);
    assert_eq!(run.ending.stop_reason, StopReason::Answered, "{:?}", run.ending);
    assert!(
        report.text.starts_with(
            "The X200 pump takes NLGI 2 grease for its bearing. [1] (pumps.example, 2024-03-12; also in 1 other source)"
        ),
        "{}",
        report.text
    );
    assert_eq!(report.text.matches("NLGI 2 grease").count(), 1, "{}", report.text);
    assert_eq!((report.engine, &*report.warnings), (Engine::Extractive, &[Warning::SynthesisUnavailable][..]));
    assert!(report.unanswered.is_empty() && !report.truncated);
    assert!(!report.text.contains("Cars") && report.sources_considered >= 3);
}

#[test]
fn disagreements_name_both_sides() {
    let world = pumps();
    let run = world.run(&assignment("What is the service interval of the X200 pump?"));
    world.check(run.report.as_ref().unwrap());
    let line = run.text().lines().find(|line| line.starts_with("**Sources differ:**")).unwrap();
    assert!(line.contains("12 months (pumps.example, 2024-03-12) [1]"), "{line}");
    assert!(line.contains("6 months (forum.example) [2]"), "{line}");
}

#[test]
fn range_written_with_a_hyphen_is_no_disagreement() {
    let world = World::of(vec![
        page(
            "https://pumps.example/x300",
            "Manual",
            "# X300\n\nThe operating pressure of the X300 pump is 5-10 bar in normal use. \
             Staff must be trained for its service.\n",
        ),
        page(
            "https://forum.example/x300",
            "Forum",
            "# Talk\n\nThe operating pressure of the X300 pump is 5–10 bar in normal use, says the dealer. \
             Others run it hotter.\n",
        ),
    ]);
    let run = world.run(&assignment("What is the operating pressure of the X300 pump?"));
    world.check(run.report.as_ref().unwrap());
    assert!(run.text().contains("bar") && !run.text().contains("Sources differ"), "{}", run.text());
}

#[test]
fn several_questions_have_headings_and_open_ones_are_listed() {
    let world = pumps();
    let run = world.run(&assignment(
        "- Which grease does the X200 pump take?\n- What is the service interval of the X200 pump?\n- Who founded Zanzibar?",
    ));
    let report = run.report.as_ref().unwrap();
    world.check(report);
    let headings: Vec<&str> = report.text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(
        headings,
        [
            "## Which grease does the X200 pump take?",
            "## What is the service interval of the X200 pump?",
            "## Not answered"
        ],
        "{}",
        report.text
    );
    assert_eq!(report.unanswered, ["Who founded Zanzibar?"]);
    for line in report.text.lines().filter(|line| line.len() > 40 && !line.starts_with('#')) {
        assert_eq!(report.text.matches(line).count(), 1, "{line}");
    }
}

#[test]
fn a_short_report_ends_between_sentences() {
    let world = pumps();
    let whole = world.run(&assignment("- X200 grease\n- X200 service interval")).text().to_owned();
    for max_chars in (0..whole.chars().count()).step_by(7) {
        let mut short = assignment("- X200 grease\n- X200 service interval");
        short.output.max_chars = max_chars;
        let run = world.run(&short);
        let report = run.report.as_ref().unwrap();
        world.check(report);
        assert!(report.text.chars().count() <= max_chars && report.truncated, "{max_chars}: {}", report.text);
        assert_eq!(report.text.matches('[').count(), report.text.matches(']').count());
        assert!(!report.text.trim_end().ends_with("##"));
    }
}

#[test]
fn answer_that_does_not_fit_begins_before_the_open_questions() {
    let sentence = "The X200 pump takes NLGI 2 grease for its bearing, which the maker mixes from mineral oil and lithium soap, \
                    packs in tubes of four hundred grams, stores in a cool place, and sends to workshops of all countries \
                    with a note on its use";
    let world = World::of(vec![page("https://pumps.example/manual", "Manual", &format!("{sentence}.\n"))]);
    let mut short = assignment("- Which grease does the X200 pump take?\n- Who founded Zanzibar?");
    short.output.max_chars = 200;
    let run = world.run(&short);
    let report = run.report.as_ref().unwrap();
    world.check(report);
    assert_eq!(report.citations.len(), 1, "{}", report.text);
    assert!(report.text.starts_with("The X200 pump takes NLGI 2 grease") && report.truncated, "{}", report.text);
    assert!(report.text.chars().count() <= 200);
    assert_ne!(run.ending.stop_reason, StopReason::NoSources);
}

#[test]
fn no_source_is_an_ending_of_its_own() {
    let run = World::of(vec![]).run(&assignment("Which grease does the X200 pump take?"));
    assert_eq!((run.ending.stop_reason, run.ending.failed), (StopReason::NoSources, false));
    assert_eq!(run.report.unwrap().unanswered, ["Which grease does the X200 pump take?"]);
}

#[test]
fn plain_text_has_no_marks() {
    let world = pumps();
    let mut plain = assignment("- X200 grease\n- X200 service interval");
    plain.output.format = Format::Text;
    plain.depth = Depth::Deep;
    let run = world.run(&plain);
    world.check(run.report.as_ref().unwrap());
    assert!(!run.text().contains("##") && !run.text().contains("**"), "{}", run.text());
}

#[test]
fn a_capture_that_changed_is_not_cited() {
    let mut world = pumps();
    let state = {
        let mut state = research::engine::State::new(&assignment("Which grease does the X200 pump take?"));
        let assignment = assignment("Which grease does the X200 pump take?");
        loop {
            let step = state.next(&assignment, std::time::Duration::ZERO);
            if matches!(step, research::engine::Step::Check { .. }) {
                break state;
            }
            let outcome = world.execute(&step);
            state.apply(&assignment, &step, outcome);
        }
    };
    world.pages[0].text = world.pages[0].text.replace("NLGI 2", "NLGI 3");
    let run = world.run_from(state, &assignment("Which grease does the X200 pump take?"));
    let report = run.report.unwrap();
    world.check(&report);
    assert!(
        report
            .citations
            .iter()
            .all(|citation| !citation.quote.contains("NLGI 2") || citation.canonical_url != world.pages[0].url)
    );
}

#[test]
fn a_deleted_document_ends_without_its_citations() {
    let world = World::of(vec![page("https://a.example/", "A", "The X200 pump takes grease.\n")]);
    let assignment = assignment("X200 pump grease");
    let mut state = research::engine::State::new(&assignment);
    let ending = loop {
        match state.next(&assignment, std::time::Duration::ZERO) {
            research::engine::Step::Finish(ending) => break ending,
            step @ research::engine::Step::Check { .. } => {
                state.apply(&assignment, &step, research::engine::Outcome::Checked(vec![]));
            }
            step => {
                let outcome = world.execute(&step);
                state.apply(&assignment, &step, outcome);
            }
        }
    };
    assert_eq!(ending.stop_reason, StopReason::NoSources);
    assert!(state.report().unwrap().citations.is_empty());
}

#[test]
fn events_tell_the_course_of_the_run() {
    let world = pumps();
    let run = world.run(&assignment("Which grease does the X200 pump take?"));
    let names = run.event_names();
    assert_eq!(&names[..3], ["plan", "search", "note"]);
    assert!(names.contains(&"document") && names.last() == Some(&"output_delta"), "{names:?}");
    let parts = run.events.iter().filter_map(|event| match event {
        research::engine::Event::OutputDelta { text } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(parts.collect::<String>(), run.text());
    let progress = run.state.progress();
    assert_eq!((progress.plan[0].step, progress.plan[0].status.as_str()), (1, "done"));
    assert_eq!(progress.documents_read, run.state.spent.documents);
}

#[test]
fn years_and_dates_that_differ_are_named() {
    for (one, other, line) in [
        ("in 1987", "in 1988", "1987 (a.example) [1]; 1988 (b.example) [2]"),
        ("on 12 March 1987", "on 13 March 1987", "12 March 1987 (a.example) [1]; 13 March 1987 (b.example) [2]"),
    ] {
        let text = |date: &str| format!("The Acme company of Graz was founded {date} by two brothers.\n");
        let world = World::of(vec![
            page("https://a.example/", "Acme", &text(one)),
            page("https://b.example/", "Acme", &text(other)),
            page("https://c.example/", "Acme", &text(one)),
        ]);
        let run = world.run(&assignment("When was the Acme company founded?"));
        assert!(run.text().contains(&format!("**Sources differ:** {line}.")), "{}", run.text());
        assert!(run.text().contains("also in 1 other source"), "{}", run.text());
    }
}

#[test]
fn sentences_that_differ_in_meaning_are_both_cited() {
    let pump = "What does the X200 pump need in normal use?";
    for (query, one, other) in [
        (pump, "The X200 pump must be greased in normal use.", "The X200 pump must not be greased in normal use."),
        (pump, "The X200 pump needs oil in normal use.", "The X200 pump never needs oil in normal use."),
        (pump, "The X200 pump runs at 1.5 bar in normal use.", "The X200 pump runs at 15 bar in normal use."),
        (pump, "The X200 pump runs at 15 psi in normal use.", "The X200 pump runs at 15 bar in normal use."),
        (pump, "The X200 pump runs at -4 °C in normal use.", "The X200 pump runs at 4 °C in normal use."),
        (pump, "The X200 pump takes 5 g oil in normal use.", "The X200 pump takes 5 kg oil in normal use."),
        (pump, "The X200 pump takes grease type a in normal use.", "The X200 pump takes grease type b in normal use."),
        (
            "How many motors does the controller drive?",
            "The LM310 controller drives two large motors.",
            "The LM420 controller drives two large motors.",
        ),
    ] {
        let world = World::of(vec![
            page("https://a.example/", "Manual", &format!("{one}\n")),
            page("https://b.example/", "Manual", &format!("{other}\n")),
        ]);
        let run = world.run(&assignment(query));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        for sentence in [one, other] {
            let citations = report.citations.iter().filter(|citation| citation.quote == sentence);
            assert_eq!((citations.count(), report.text.matches(sentence).count()), (1, 1), "{}", report.text);
        }
        assert!(!report.text.contains("also in"), "{}", report.text);
    }
}

#[test]
fn passages_that_differ_in_one_sentence_are_all_kept() {
    let world = manuals();
    let run = world.run(&assignment("Which oil does the bearing of the X200 pump take?"));
    world.check(run.report.as_ref().unwrap());
    for oil in OILS {
        let line = run.text().lines().find(|line| line.contains(oil)).unwrap_or_else(|| panic!("{}", run.text()));
        assert!(!line.contains("also in"), "{line}");
    }
    let shared = run.text().lines().find(|line| line.contains("30 bar")).unwrap();
    assert!(shared.contains("also in 2 other sources"), "{shared}");
}

#[test]
fn a_source_is_credited_with_its_own_sentences_only() {
    let shared = "The X200 pump runs at 30 bar in normal use. Staff must be trained for its service by the maker. Close the \
                  valve when the pump stops. Keep the manual of the pump at hand.";
    let interval = "The service interval of the X200 pump is a year.";
    let world = World::of(vec![
        page("https://a.example/", "Manual", &format!("{shared} {interval}\n")),
        page("https://b.example/", "Manual", &format!("{shared}\n")),
    ]);
    let run = world.run(&assignment("What is the service interval of the X200 pump?"));
    world.check(run.report.as_ref().unwrap());
    let line = run.text().lines().find(|line| line.contains(interval)).unwrap();
    assert!(line.contains("a.example") && !line.contains("also in"), "{line}");
}

#[test]
fn repeats_in_another_order_and_form_are_credited() {
    let sentences = ["The X200 pump takes NLGI 2 grease.", "The grease of the X200 pump is changed every year."];
    let [one, other] = sentences;
    let world = World::of(vec![
        page("https://a.example/", "Manual", &format!("{one} {other}\n")),
        page("https://b.example/", "Copy", &format!("{other} {one}\n")),
        page("https://c.example/", "List", &format!("- **{one}**\n- {other}\n")),
    ]);
    let run = world.run(&assignment("Which grease does the X200 pump take?"));
    world.check(run.report.as_ref().unwrap());
    for sentence in sentences {
        assert_eq!(run.text().matches(sentence).count(), 1, "{}", run.text());
    }
    assert_eq!(run.text().matches("also in 2 other sources").count(), 2, "{}", run.text());
}

#[test]
fn values_that_differ_in_their_sign_are_named_with_it() {
    let text = |degrees: &str| format!("The X200 pump runs at {degrees} °C in normal use.\n");
    let world = World::of(vec![
        page("https://a.example/", "Manual", &text("-4")),
        page("https://b.example/", "Manual", &text("4")),
    ]);
    let run = world.run(&assignment("What does the X200 pump need in normal use?"));
    let line = "**Sources differ:** \\-4 °C (a.example) [1]; 4 °C (b.example) [2].";
    assert!(run.text().contains(line), "{}", run.text());
}

#[test]
fn questions_in_other_languages_are_answered() {
    for (language, query, answer, other) in [
        (
            "de",
            "Wie hoch ist der Umsatz der Nordwerk GmbH?",
            "Die Nordwerk GmbH erzielte 2023 einen Umsatz von 12,5 Mio. Euro.",
            "Die Nordwerk GmbH beschäftigt 85 Menschen.",
        ),
        (
            "es",
            "¿Cuánto cuesta la entrada al Museo del Mar?",
            "La entrada al Museo del Mar cuesta 8 euros.",
            "El Museo del Mar abre a las 10 de la mañana.",
        ),
        (
            "fr",
            "Combien coûte le vélo électrique Lyra ?",
            "Le vélo électrique Lyra coûte 2500 euros.",
            "L'autonomie du vélo électrique Lyra est de 120 km.",
        ),
        (
            "de",
            "Wie viele Tage Urlaub haben Mitarbeiter der Nordwerk GmbH?",
            "Mitarbeiter der Nordwerk GmbH haben 30 Tage Urlaub im Jahr.",
            "Die Nordwerk GmbH beschäftigt 85 Menschen.",
        ),
    ] {
        let world = World::of(vec![
            page("https://a.example/", "A", &format!("{answer}\n")).in_language(language),
            page("https://b.example/", "B", &format!("{other}\n")).in_language(language),
        ]);
        let run = world.run(&assignment(query));
        let report = run.report.as_ref().unwrap();
        world.check(report);
        assert!(report.unanswered.is_empty(), "{}", report.text);
        assert_eq!((run.ending.stop_reason, &*report.citations[0].quote), (StopReason::Answered, answer));
    }
}

#[test]
fn numbers_are_compared_as_their_language_writes_them() {
    for (language, query, one, other, line) in [
        (
            "en",
            "What is the annual revenue of Acme?",
            "Acme reported an annual revenue of $5.2M for 2023.",
            "Acme reported an annual revenue of $5.2 million for 2023.",
            None,
        ),
        (
            "fr",
            "Combien coûte le vélo électrique Lyra ?",
            "Le vélo électrique Lyra coûte 2 500 euros.",
            "Le vélo électrique Lyra coûte 3 500 euros.",
            Some("**Sources differ:** 2 500 euros (a.example) [1]; 3 500 euros (b.example) [2]."),
        ),
    ] {
        let world = World::of(vec![
            page("https://a.example/", "A", &format!("{one}\n")).in_language(language),
            page("https://b.example/", "B", &format!("{other}\n")).in_language(language),
        ]);
        let run = world.run(&assignment(query));
        world.check(run.report.as_ref().unwrap());
        let found = run.text().lines().find(|line| line.contains("Sources differ"));
        assert_eq!(found.map(|line| line.trim_start_matches("- ")), line, "{}", run.text());
    }
}

/// Data sheets of two pumps, and a page that repeats a sentence of one.
fn data_sheets() -> Vec<Page> {
    vec![
        page(
            "https://pumps.example/x200",
            "X200 pump specification",
            "The X200 pump has a maximum pressure of 30 bar (435 psi). The X200 pump weighs 12 kg. The noise level of \
             the X200 pump is 62 dB.\n",
        ),
        page(
            "https://pumps.example/x300",
            "X300 pump specification",
            "The X300 pump has a maximum pressure of 40 bar. The X300 pump weighs 18 kg. The noise level of the X300 \
             pump is 70 dB.\n",
        ),
        page("https://mirror.example/x200", "X200 pump facts", "The noise level of the X200 pump is 62 dB.\n"),
    ]
}

#[test]
fn different_products_do_not_disagree() {
    for query in ["What is the maximum pressure of the X200 pump?", "What is the noise level of the X200 pump?"] {
        let world = World::of(data_sheets());
        let run = world.run(&assignment(query));
        world.check(run.report.as_ref().unwrap());
        assert!(!run.text().contains("Sources differ"), "{}", run.text());
        for sentence in ["The noise level of the X200 pump is 62 dB.", "The X200 pump has a maximum pressure of"] {
            assert!(run.text().matches(sentence).count() <= 1, "{}", run.text());
        }
    }
}

#[test]
fn disagreement_cites_the_sentence_that_is_shown() {
    for (query, other, line) in [
        (
            "What is the maximum pressure of the X200 pump?",
            "The X200 pump has a maximum pressure of 35 bar.",
            ["30 bar (pumps.example)", "35 bar (forum.example)"],
        ),
        (
            "What is the noise level of the X200 pump?",
            "The noise level of the X200 pump is 65 dB.",
            ["62 dB (", "65 dB (forum.example)"],
        ),
    ] {
        let mut pages = data_sheets();
        pages.push(page("https://forum.example/x200", "Forum", &format!("{other}\n")));
        let world = World::of(pages);
        let run = world.run(&assignment(query));
        world.check(run.report.as_ref().unwrap());
        let found: Vec<&str> = run.text().lines().filter(|line| line.contains("Sources differ")).collect();
        assert!(found.iter().any(|found| line.iter().all(|value| found.contains(value))), "{}", run.text());
        for sentence in ["The noise level of the X200 pump is 62 dB.", other] {
            assert!(run.text().matches(sentence).count() <= 1, "{}", run.text());
        }
    }
}
