//! Passages and headings of answers with a part of a document.

use app::documents::{ContentFormat, Include, Range, ReadOutcome, ReadRequest, Selection};
use retrieval_core::outline::MAX_HEADINGS;
use test_support::{Tenant, TestApp, page, read_url};

const URL: &str = "https://example.com/tides";

/// Ten sections, each of one passage of about 700 characters.
fn sections() -> String {
    let filler = "The sea rises and falls with the *moon*. ".repeat(16);
    (0..10).map(|n| format!("## Part {n}\n\nSection {n} begins here. {filler}\n\n")).collect()
}

async fn start() -> (TestApp, Tenant) {
    start_with(&sections()).await
}

async fn start_with(content: &str) -> (TestApp, Tenant) {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import_one(page(URL, content)).await;
    (world, tenant)
}

async fn read((world, tenant): &(TestApp, Tenant), request: ReadRequest) -> ReadOutcome {
    world.app.read_document(&tenant.viewer, request).await.unwrap()
}

fn ordinals(outcome: &ReadOutcome) -> Vec<u32> {
    outcome.passages.iter().flatten().map(|passage| passage.ordinal).collect()
}

fn range(start_char: u64, max_chars: u64) -> Option<Range> {
    Some(Range { start_char, max_chars: Some(max_chars), capture_id: None })
}

#[tokio::test]
async fn whole_document_has_all_passages_and_headings() {
    let outcome = read(&start().await, read_url(URL)).await;
    assert_eq!((outcome.document.headings.len(), ordinals(&outcome)), (10, (0..10).collect()));
}

#[tokio::test]
async fn capped_text_has_its_own_passages_and_headings() {
    let started = start().await;
    for format in [ContentFormat::Markdown, ContentFormat::Text] {
        let outcome = read(&started, ReadRequest { max_chars: Some(1_600), format, ..read_url(URL) }).await;
        let text = &outcome.content.as_ref().unwrap().text;
        assert_eq!(ordinals(&outcome), [0, 1], "{format:?}");
        let shown: Vec<&String> = outcome.document.headings.iter().collect();
        assert!(shown.iter().all(|heading| text.contains(heading.as_str())), "{shown:?}");
        assert!(shown.len() >= 2 && shown.len() <= 3, "{shown:?}");
        if format == ContentFormat::Markdown {
            assert!(outcome.passages.unwrap().iter().all(|passage| text.contains(passage.text.trim_end())));
        }
    }
}

#[tokio::test]
async fn range_has_the_passages_that_lie_in_it() {
    let started = start().await;
    let whole = read(&started, ReadRequest { include_offsets: true, ..read_url(URL) }).await.passages.unwrap();
    let (start, _) = whole[3].chars.unwrap();
    let (_, end) = whole[5].chars.unwrap();
    let outcome = read(&started, ReadRequest { range: range(start - 5, end - start + 10), ..read_url(URL) }).await;
    assert_eq!(ordinals(&outcome), [3, 4, 5]);
    assert_eq!(outcome.document.headings, ["Part 3", "Part 4", "Part 5"]);
    let include = Include { metadata: true, passages: true, capture_history: false, content: false };
    let request = ReadRequest { include, range: range(start, end - start), ..read_url(URL) };
    assert_eq!(ordinals(&read(&started, request).await), [3, 4, 5], "the content need not be there");
    let beyond = read(&started, ReadRequest { range: range(1_000_000, 5), ..read_url(URL) }).await;
    assert!(ordinals(&beyond).is_empty() && beyond.document.headings.is_empty());
}

#[tokio::test]
async fn text_inside_of_one_passage_is_a_part_of_it() {
    let request = ReadRequest { include_offsets: true, range: range(30, 50), ..read_url(URL) };
    let outcome = read(&start().await, request).await;
    let [passage] = &outcome.passages.as_ref().unwrap()[..] else { panic!("{outcome:?}") };
    let content = outcome.content.as_ref().unwrap();
    assert_eq!((&passage.text, passage.chars), (&content.text, Some((30, 80))));
    assert_eq!(content.text, sections().chars().skip(30).take(50).collect::<String>());
    assert!(outcome.document.headings.is_empty());
}

#[tokio::test]
async fn selection_has_its_own_headings() {
    let started = start().await;
    let query = Some("section 7".to_owned());
    let request = ReadRequest { selection: Selection::QueryRelevant, query, max_passages: Some(1), ..read_url(URL) };
    let outcome = read(&started, request.clone()).await;
    assert_eq!((ordinals(&outcome), outcome.document.headings.clone()), (vec![7], vec!["Part 7".to_owned()]));
    let ids = outcome.passages.unwrap().iter().map(|passage| passage.passage_id.to_string()).collect();
    let by_id = ReadRequest { selection: Selection::PassageIds, passage_ids: ids, ..read_url(URL) };
    assert_eq!(read(&started, by_id).await.document.headings, ["Part 7"]);
    let capped = read(&started, ReadRequest { max_chars: Some(40), ..request }).await;
    assert!(capped.content.unwrap().text.starts_with(capped.passages.unwrap()[0].text.trim_end()));
    let none = ReadRequest { selection: Selection::None, max_chars: Some(5), ..read_url(URL) };
    let none = read(&started, none).await;
    assert_eq!((none.document.headings.len(), ordinals(&none).len()), (10, 10), "there is no text to go by");
}

/// Returns the headings of a document with their ranges. Lines of code blocks do not count.
fn headings(content: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    let (mut start, mut in_code, mut found) = (0, false, Vec::new());
    for line in content.split_inclusive('\n') {
        in_code ^= line.starts_with("```");
        if line.starts_with('#') && !in_code {
            found.push((start..start + line.trim_end().len(), line.trim_matches(['#', ' ', '\n'])));
        }
        start += line.len();
    }
    found
}

#[tokio::test]
async fn range_of_a_long_document_has_its_part_of_the_outline() {
    let script: String = (0..).map(|n| format!("# comment {n}\nmake target-{n}\n")).take(3_500).collect();
    let after = "## Real\n\nText.\n\n# Parts\n\n## First\n\n```\n# short\n```\n\nMore.\n";
    let code = format!("# Guide\n\nIntro.\n\n## Script\n\n```sh\n{script}```\n\nDone.\n\n{after}");
    let section = |n: usize| format!("## Part {n}\n\n### Detail\n\n{}\n\n", "The sea rises. ".repeat(n * 7 % 200));
    let sections: String = (0..120).map(section).collect();
    let tiny: String = (0..3_000).map(|n| format!("## Entry {n}\n\nA few words of text.\n\n")).collect();
    for content in [code, sections, tiny] {
        let started = start_with(&content).await;
        let outline = headings(&content);
        let whole = read(&started, read_url(URL)).await.document.headings;
        assert!(whole.iter().eq(outline.iter().map(|(_, heading)| heading).take(MAX_HEADINGS)));
        assert!(content.len() > 65_536, "stored in parts");
        for start in (0..content.len()).step_by(5_003) {
            for length in [4_000, 20_000, 200_000] {
                let request = ReadRequest { range: range(start as u64, length as u64), ..read_url(URL) };
                let within = |at: &std::ops::Range<usize>| at.start >= start && at.end <= start + length;
                let shown = outline.iter().filter(|(at, _)| within(at)).map(|(_, heading)| *heading);
                let expected: Vec<&str> = shown.take(MAX_HEADINGS).collect();
                assert_eq!(read(&started, request).await.document.headings, expected, "{start} {length}");
            }
        }
    }
}

#[tokio::test]
async fn number_of_passages_is_limited() {
    let started = start().await;
    for (selection, query, max_passages, expected) in [
        (Selection::FullDocument, None, 2, vec![0, 1]),
        (Selection::FullDocument, None, 0, vec![]),
        (Selection::TopPassages, None, 7, vec![0, 1, 2, 3, 4, 5, 6]),
        (Selection::QueryRelevant, Some("section 4"), 1, vec![4]),
    ] {
        for (max_chars, format) in [
            (None, ContentFormat::Markdown),
            (None, ContentFormat::Text),
            (Some(100_000), ContentFormat::Markdown),
            (Some(100_000), ContentFormat::Text),
        ] {
            let query = query.map(str::to_owned);
            let max_passages = Some(max_passages);
            let request = ReadRequest { selection, query, max_chars, format, max_passages, ..read_url(URL) };
            let outcome = read(&started, request).await;
            assert_eq!(ordinals(&outcome), expected, "{selection:?} {max_passages:?} {max_chars:?} {format:?}");
            if selection == Selection::FullDocument {
                let text = outcome.content.unwrap().text;
                assert!(text == sections() || format == ContentFormat::Text, "the text is not limited");
                assert_eq!(outcome.document.headings.len(), 10, "nor are its headings: {max_chars:?} {format:?}");
            }
        }
    }
}
