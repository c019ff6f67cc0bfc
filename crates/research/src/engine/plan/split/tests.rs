use super::*;

fn texts(query: &str) -> Vec<String> {
    split(query).into_iter().map(|question| question.text).collect()
}

#[test]
fn queries_are_divided_by_their_form() {
    for (query, expected) in [
        ("Which grease does the pump take?", vec!["Which grease does the pump take?"]),
        ("What is Raft? How does it elect a leader?", vec!["What is Raft?", "How does it elect a leader?"]),
        (
            "PostgreSQL vs MySQL for analytics",
            vec!["PostgreSQL for analytics", "MySQL for analytics", "PostgreSQL vs MySQL for analytics"],
        ),
        ("Compare Kafka and Pulsar", vec!["Kafka", "Pulsar", "Compare Kafka and Pulsar"]),
        (
            "What is the difference between TCP and UDP in games?",
            vec!["TCP in games", "UDP in games", "What is the difference between TCP and UDP in games?"],
        ),
        ("Unterschied zwischen Diesel und Benzin", vec!["Diesel", "Benzin", "Unterschied zwischen Diesel und Benzin"]),
        ("pros and cons of remote work", vec!["Advantages of remote work", "Disadvantages of remote work"]),
        ("Vor- und Nachteile von Wärmepumpen?", vec!["Vorteile von Wärmepumpen", "Nachteile von Wärmepumpen"]),
        ("the causes, symptoms and treatment of gout", vec!["causes of gout", "symptoms of gout", "treatment of gout"]),
        ("What is a heat pump and how much does one cost?", vec!["What is a heat pump", "how much does one cost"]),
        ("Was ist Raft und wie funktioniert es?", vec!["Was ist Raft", "wie funktioniert es"]),
        ("About our pumps:\n- which grease\n- service interval", vec!["which grease", "service interval"]),
        ("1. What is A?\n2. What is B?", vec!["What is A?", "What is B?"]),
        ("東京の人口は？大阪の人口は？", vec!["東京の人口は？", "大阪の人口は？"]),
        ("Explain research and development", vec!["Explain research and development"]),
        ("Simon and Garfunkel discography", vec!["Simon and Garfunkel discography"]),
        ("rock 'n' roll; jazz history", vec!["rock 'n' roll; jazz history"]),
        ("¿Qué es Raft y cómo elige un líder?", vec!["Qué es Raft", "cómo elige un líder"]),
        ("Verschil tussen Kafka en Pulsar", vec!["Kafka", "Pulsar", "Verschil tussen Kafka en Pulsar"]),
        // Nothing is divided here.
        ("La guerre a commencé en quelle année ?", vec!["La guerre a commencé en quelle année ?"]),
        ("¿La copa se ganó en qué año?", vec!["¿La copa se ganó en qué año?"]),
        ("What is Raft, which was made in 2014?", vec!["What is Raft, which was made in 2014?"]),
        ("Please tell me, how does Raft work?", vec!["Please tell me, how does Raft work?"]),
        ("Wer schrieb Krieg und Frieden?", vec!["Wer schrieb Krieg und Frieden?"]),
        ("Кто написал роман Война и мир?", vec!["Кто написал роман Война и мир?"]),
        ("?", vec![]),
        ("C++", vec!["C++"]),
    ] {
        assert_eq!(texts(query), expected, "{query}");
    }
}

#[test]
fn follow_ups_keep_their_subject() {
    let questions = split("What is the Raft protocol? How does it elect a leader?");
    assert_eq!(questions[1].topic, "raft protocol");
    let items = split("Facts about Lisbon:\n- population\n- mayor");
    assert!(items.iter().all(|item| item.topic.contains("lisbon")), "{items:?}");
}

#[test]
fn any_text_has_questions() {
    use proptest::prelude::*;
    proptest!(|(query in "(?s).{1,400}")| {
        let questions = split(&query);
        prop_assert!(!questions.is_empty() || !query.chars().any(char::is_alphanumeric));
        prop_assert!(questions.iter().all(|question| question.text.chars().count() <= MAX_QUESTION_CHARS));
    });
}

#[test]
fn number_and_length_of_questions_are_bounded() {
    let entries: Vec<String> = (0..900).map(|number| format!("a{number}")).collect();
    let listed = entries.join(", ");
    let list: String = entries.iter().map(|entry| format!("- {entry}\n")).collect();
    for query in [
        format!("the {listed} and z of {}", "water ".repeat(600)),
        format!("compare {listed} and z for {}", "water ".repeat(600)),
        format!("the {listed} and z of water? the {listed} and z of air?"),
        format!("What is water? {}", "How is b, c, d and e of air? ".repeat(100)),
        format!("What is water?\n{list}"),
    ] {
        let questions = split(&query);
        assert!((2..=MAX_SENTENCES).contains(&questions.len()), "{}: {query}", questions.len());
        assert!(questions.iter().all(|question| question.text.chars().count() <= MAX_QUESTION_CHARS), "{query}");
    }
}

#[test]
fn a_long_query_is_divided_in_linear_time() {
    for unit in ["and how ", "a vs b ", "? ", "- x\n", "a, b and c of ", "漢"] {
        let query: String = unit.repeat(8_000 / unit.chars().count());
        let _ = split(&query);
    }
}
