#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

const SENTENCE: &str = "The quick brown fox jumps over the lazy dog near the river bank. ";

/// Splits `content` and checks the invariants that hold for any content.
fn checked(content: &str) -> Vec<PassageSpan> {
    let passages = split(content);
    let (mut bytes, mut chars) = (0, 0);
    for (index, passage) in passages.iter().enumerate() {
        assert_eq!(passage.ordinal as usize, index);
        assert_eq!((passage.bytes.start, passage.chars.start), (bytes, chars), "gap or overlap");
        assert_eq!(content[passage.bytes.clone()].chars().count(), passage.chars.len());
        assert!(!passage.bytes.is_empty());
        assert_eq!(passage.section_heading.as_ref(), passage.section_path.last());
        (bytes, chars) = (passage.bytes.end, passage.chars.end);
    }
    assert_eq!(bytes, content.len(), "content is left over");
    passages
}

fn texts(content: &str) -> Vec<&str> {
    checked(content).into_iter().map(|passage| &content[passage.bytes]).collect()
}

#[test]
fn short_texts_are_one_passage() {
    assert!(split("").is_empty());
    for content in ["a", "\n", " \r\n\t", "# only a heading", "One.\n\nTwo."] {
        assert_eq!(texts(content), [content]);
    }
}

#[test]
fn every_section_cites_its_own_heading() {
    let content =
        "intro\n\n# Guide\n\n## Install\n\nRun it.\n\n### Linux\nx\n\n## Use\nCall it.\n## Empty\n## Last\n\nend";
    let cited: Vec<(String, Option<String>, String)> = checked(content)
        .into_iter()
        .map(|passage| (content[passage.bytes].to_owned(), passage.section_heading, passage.section_path.join(" > ")))
        .collect();
    let expected = [
        ("intro\n\n", None, ""),
        // A heading without text below it is not a passage of its own: the path of its first subsection contains it.
        ("# Guide\n\n## Install\n\nRun it.\n\n", Some("Install"), "Guide > Install"),
        ("### Linux\nx\n\n", Some("Linux"), "Guide > Install > Linux"),
        ("## Use\nCall it.\n", Some("Use"), "Guide > Use"),
        ("## Empty\n", Some("Empty"), "Guide > Empty"),
        ("## Last\n\nend", Some("Last"), "Guide > Last"),
    ];
    assert_eq!(cited, expected.map(|(text, heading, path)| (text.into(), heading.map(String::from), path.into())));
}

#[test]
fn passages_that_begin_a_section_are_told_from_split_code() {
    let script = "# a comment\nmake all\n".repeat(2_000);
    let long_heading = "word ".repeat(50);
    let content =
        format!("# Guide\n\n## Build\n\n```sh\n{script}```\n\n## Use\n\nText.\n\n{long_heading}\n---\n\nEnd.\n");
    let begin: Vec<&str> = checked(&content)
        .iter()
        .filter(|passage| begins_section(passage.text(&content), &passage.section_path))
        .map(|passage| passage.text(&content).lines().next().unwrap())
        .collect();
    assert_eq!(begin, ["# Guide", "## Use", &long_heading]);
}

#[test]
fn long_sections_break_at_paragraphs_into_even_lengths() {
    let paragraph = SENTENCE.repeat(5) + "\n\n";
    let content = "# Long\n\n".to_owned() + &paragraph.repeat(12);
    let passages = texts(&content);
    assert!(passages.len() >= 4);
    for passage in passages {
        assert!((MIN_CHARS..=MAX_CHARS).contains(&passage.chars().count()), "{}", passage.chars().count());
        assert!(passage.ends_with("\n\n"));
    }
}

#[test]
fn paragraphs_break_at_sentences_and_sentences_at_words() {
    for passage in texts(&SENTENCE.repeat(60)) {
        assert!((MIN_CHARS..=MAX_CHARS).contains(&passage.len()) && passage.ends_with(". "));
    }
    let words = "word ".repeat(2_000);
    let passages = texts(&words);
    for passage in &passages[..passages.len() - 1] {
        assert!((MIN_CHARS..=MAX_CHARS).contains(&passage.len()) && passage.starts_with("word"));
    }
}

#[test]
fn code_blocks_and_table_rows_stay_whole() {
    let code = format!("```rust\n{}```\n", "let value = compute();\n\n".repeat(120));
    let content = format!("{}\n\n{code}\n{}", SENTENCE.repeat(10), SENTENCE.repeat(10));
    assert!(texts(&content).iter().any(|passage| passage.contains(&code)), "a block of {} characters", code.len());

    let row = format!("| {} | {} |\n", "left cell ".repeat(20), "right cell ".repeat(20));
    let table = format!("| a | b |\n|---|---|\n{}", row.repeat(30));
    for passage in texts(&table) {
        assert!(passage.starts_with("| ") && passage.ends_with("|\n"), "{passage}");
        assert!(passage.chars().count() <= MAX_CHARS);
    }
    assert!(texts(&table)[0].contains(&row), "the head stays with the first row");

    // A block beyond the limit is split at line ends.
    let long = format!("```\n{}```\n", "some line of code\n".repeat(3_000));
    let passages = texts(&long);
    assert!(passages.len() > 10);
    for passage in passages {
        assert!(passage.ends_with('\n') && passage.len() <= MAX_CHARS + 10);
    }
}

#[test]
fn texts_without_spaces_break_at_sentences_or_characters() {
    let sentences = "これは日本語の文章で、句点で終わります。".repeat(200);
    for passage in texts(&sentences) {
        assert!(passage.ends_with('。') && passage.chars().count() <= MAX_CHARS);
    }
    let characters = "漢".repeat(5_000);
    for passage in texts(&characters) {
        assert!((MIN_CHARS..=MAX_CHARS).contains(&passage.chars().count()));
    }
    let thai = "กำลังทดสอบภาษาไทย".repeat(300);
    for passage in texts(&thai) {
        let first = passage.chars().next().unwrap();
        assert!(!('\u{e31}'..='\u{e3a}').contains(&first) || first == '\u{e32}', "a mark without its letter");
    }
}

#[test]
fn only_overlong_words_are_split() {
    let word = "x".repeat(3_000);
    let content = format!("{SENTENCE}{word} {SENTENCE}");
    assert!(texts(&content).iter().any(|passage| passage.contains(&word)));
    let endless = "x".repeat(20_000);
    for passage in texts(&endless) {
        assert!(passage.len() <= MAX_CHARS);
    }
}

#[test]
fn line_ends_of_any_kind_are_kept() {
    let content = "# A\r\n\r\ntext\r\n\r\n# B\r\nmore\r\n";
    assert_eq!(texts(content), ["# A\r\n\r\ntext\r\n\r\n", "# B\r\nmore\r\n"]);
}

#[test]
fn a_document_of_headings_does_not_become_a_million_passages() {
    let content = format!("# {}\n", "long heading ".repeat(50)).repeat(3) + &"###### x\ny\n".repeat(50_000);
    assert!(checked(&content).len() < 2_000);
    let glossary = "## Term\n\nIts meaning.\n\n".repeat(100);
    assert_eq!(checked(&glossary).len(), 100, "each term of an ordinary glossary is a passage");
}

#[test]
fn large_adversarial_inputs_are_split_in_linear_time() {
    let units = [
        "x", " ", "\n", ". ", "a. ", "```\n", "|\n", "> ", "- ", "#\n", "漢", "。", "🇩🇪", "e\u{301}", "1. ", "\"",
        "a\n",
    ];
    for unit in units {
        let content = unit.repeat(60_000 / unit.len());
        assert!(!checked(&content).is_empty());
    }
}

#[test]
fn endless_code_block_is_searched_once() {
    let content = "```\n".to_owned() + &"a\n".repeat(1_000_000);
    assert!(checked(&content).len() > 1_000);
}

#[test]
fn ids_are_derived_from_the_content() {
    let document = DocId(Uuid::from_u128(1));
    assert_eq!(passage_id(document, "abc", 0), passage_id(document, "abc", 0));
    let others =
        [passage_id(document, "abc", 1), passage_id(document, "abd", 0), passage_id(DocId(Uuid::nil()), "abc", 0)];
    assert!(!others.contains(&passage_id(document, "abc", 0)));
    // Stable forever: python3's uuid.uuid5(uuid.UUID(int=1), "abc#0").
    assert_eq!(passage_id(document, "abc", 0).to_string(), "8d8cc147-2c95-5799-b661-e77fed8c367c");
}

/// Generates the opening and closing fence of a code block.
fn fence() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![Just(("```rust", "```")), Just(("~~~", "~~~~")), Just(("`````", "`````"))]
}

proptest! {
    #[test]
    fn any_content_is_covered(content in "(?s).{0,400}") {
        checked(&content);
    }

    #[test]
    fn any_markdown_is_covered_and_split_deterministically(
        blocks in prop::collection::vec(
            prop_oneof![
                Just("# Heading\n".to_owned()),
                Just("### Deep *one*\n\n".to_owned()),
                (1usize..40).prop_map(|count| SENTENCE.repeat(count) + "\n\n"),
                (1usize..300).prop_map(|count| format!("```\n{}```\n", "code line\n".repeat(count))),
                (1usize..60).prop_map(|count| "| cell | other cell |\n".repeat(count) + "\n"),
                (1usize..60).prop_map(|count| "- an item of a list\n".repeat(count) + "\n"),
                (1usize..900).prop_map(|count| "字".repeat(count)),
                "[#`|\\->. a\n]{1,20}",
            ],
            0..12,
        )
    ) {
        let content = blocks.concat();
        prop_assert_eq!(checked(&content), split(&content));
        for passage in split(&content) {
            prop_assert!(passage.chars.len() <= ATOM_CHARS + MAX_CHARS);
        }
    }

    /// Includes code blocks larger than a passage, also in lists and quotes.
    #[test]
    fn words_code_blocks_and_table_rows_are_not_split(
        blocks in prop::collection::vec(
            prop_oneof![
                (1usize..60).prop_map(|count| (SENTENCE.repeat(count) + "\n\n", false)),
                (1usize..30, 1usize..40).prop_map(|(count, words)| ("word ".repeat(words) + "\n").repeat(count)).prop_map(|text| (text + "\n", false)),
                (1usize..3_500).prop_map(|length| (format!("{}{}\n\n", SENTENCE, "x".repeat(length)), false)),
                (1usize..900, fence(), prop_oneof![Just(""), Just("> "), Just("  ")]).prop_map(|(count, (open, close), prefix)| {
                    let code = format!("{prefix}let value = compute(1, 2);\n{}\n", prefix.trim_end()).repeat(count);
                    (format!("{prefix}{open}\n{code}{prefix}{close}\n"), true)
                }),
                (1usize..600).prop_map(|words| (format!("| {} | other |\n", "cell ".repeat(words)), true)),
                Just(("| a | b |\n| --- | --- |\n| c | d |\n".to_owned(), true)),
                Just(("## A heading\n\n".to_owned(), false)),
                (1usize..50).prop_map(|count| ("- an item of a list\n".repeat(count) + "\n", false)),
            ],
            1..8,
        )
    ) {
        let mut content = String::new();
        let mut wholes = Vec::new();
        for (block, is_whole) in blocks {
            // Consecutive rows would form one table, so blank lines separate the blocks.
            content.push('\n');
            let start = content.len();
            content.push_str(&block);
            if is_whole {
                wholes.push(start..content.len());
            }
        }
        for passage in checked(&content) {
            let cut = passage.bytes.end;
            let inside = wholes.iter().find(|whole| whole.start < cut && cut < whole.end);
            prop_assert!(inside.is_none_or(|whole| whole.len() > ATOM_CHARS), "split at {cut} in {inside:?}");
            let between = content[..cut].ends_with(char::is_whitespace) || content[cut..].starts_with(char::is_whitespace);
            prop_assert!(between || cut == content.len(), "a word is split at {cut}");
        }
    }
}
