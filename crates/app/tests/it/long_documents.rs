//! Documents that are stored in parts.

use std::sync::Arc;

use app::ReadLimits;
use app::documents::{ContentFormat, Include, Range, ReadOutcome, ReadRequest, ReadWarning, Selection};
use app::search::SearchRequest;
use app::web::{prepare_page, save_pages};
use docstore::PartMap;
use model::{Clock, DocId};
use test_support::{Setup, Tenant, TestApp, page, read_url, search};

const URL: &str = "https://long.example/";

/// Characters of a long document here. Ranking reads 64 KiB of each.
const LONG: usize = 300_000;

/// Sentences about pumps, one in a paragraph, each with a word of its own.
fn filler(name: &str, chars: usize) -> String {
    let mut text = String::with_capacity(chars + 100);
    for number in 0.. {
        if text.len() >= chars {
            return text;
        }
        text.push_str(&format!("The pump {name}{number} is painted blué and moves water every day of the year.\n\n"));
    }
    text
}

async fn start(read_limits: ReadLimits) -> (TestApp, Tenant) {
    let mut setup = Setup::default();
    setup.options.read_limits = read_limits;
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    (world, tenant)
}

/// Limits that are far below the documents here.
fn small() -> ReadLimits {
    ReadLimits { search_bytes: 100_000, selection_bytes: 100_000 }
}

async fn map_of(world: &TestApp, tenant: &Tenant, doc_id: DocId) -> PartMap {
    let stored = world
        .store
        .read_document(tenant.organization_id, doc_id)
        .await
        .unwrap()
        .and_then(|(_, stored)| stored)
        .unwrap();
    stored.capture.parts.unwrap()
}

async fn read(world: &TestApp, tenant: &Tenant, request: ReadRequest) -> ReadOutcome {
    world.app.read_document(&tenant.viewer, request).await.unwrap()
}

fn slice(content: &str, start: usize, length: usize) -> String {
    content.chars().skip(start).take(length).collect()
}

#[tokio::test]
async fn passage_at_the_end_is_quoted() {
    let (world, tenant) = start(small()).await;
    let content = filler("a", LONG) + "The walrus sleeps on the pump.\n";
    world.import([page(URL, &content), page("https://short.example/", "A walrus is no pump.")]).await;
    // The first search reads the documents, the second one finds their terms in the cache.
    for _ in 0..2 {
        let outcome = world.app.search(&tenant.viewer, search("walrus pump")).await.unwrap();
        assert_eq!(outcome.hits.len(), 2);
        let hit = outcome.hits.iter().find(|hit| hit.canonical_url == URL).unwrap();
        assert!(hit.passages[0].text.contains("The walrus sleeps"), "{hit:?}");
        assert!(hit.snippet.contains("walrus"), "{}", hit.snippet);
        for passage in &hit.passages {
            let chars = &passage.chars;
            assert_eq!(slice(&content, chars.start as usize, chars.len()), passage.text);
        }
    }
}

#[tokio::test]
async fn search_reads_no_more_than_its_budget() {
    let (world, tenant) = start(small()).await;
    let count = 10;
    let pages = (0..count).map(|number| {
        let content = filler(&format!("n{number}x"), LONG) + "A day water.\n";
        page(&format!("https://{number}.example/"), &content)
    });
    world.import(pages).await;
    // All parts contain these words, so that nothing but the budget limits the search.
    for (exact_match, query) in [(false, "pump water day"), (true, "day water")] {
        let outcome = world.app.search(&tenant.viewer, SearchRequest { exact_match, ..search(query) }).await;
        let outcome = outcome.unwrap();
        assert_eq!(outcome.hits.len(), if exact_match { 1 } else { count }, "phrases out of reach are not confirmed");
        // Parts have 16 to 17 kB. Ranking reads 256 KiB of each document once, an exact match each time.
        assert!(outcome.read_bytes <= count * (18_000 + 262_144) + 100_000, "{}", outcome.read_bytes);
        assert!(outcome.read_bytes > count * 262_144);
    }
    let again = world.app.search(&tenant.viewer, search("pump water day")).await.unwrap();
    assert!(again.read_bytes <= count * 18_000 + 100_000, "{}", again.read_bytes);
}

#[tokio::test]
async fn phrase_across_two_parts_is_found() {
    let (world, tenant) = start(small()).await;
    let content = filler("a", LONG);
    let doc_id = world.import_one(page(URL, &content)).await;
    world.import_one(page("https://short.example/", "Of the year the pump. The a100 pump.")).await;
    let map = map_of(&world, &tenant, doc_id).await;
    assert!(map.count() > 10);
    for part in [1, map.count() / 2, map.count() - 1] {
        let boundary = map.start(part).byte;
        let before = &content[..boundary].trim_end()[content[..boundary].trim_end().len() - 12..];
        let after = content[boundary..].split('.').next().unwrap();
        let query = format!("{before} {after}");
        for _ in 0..2 {
            let request = SearchRequest { exact_match: true, ..search(&query) };
            let outcome = world.app.search(&tenant.viewer, request).await.unwrap();
            assert_eq!(outcome.hits.len(), 1, "{query}");
        }
        let request = SearchRequest { exact_match: true, ..search(&query.replace("painted", "printed")) };
        assert!(world.app.search(&tenant.viewer, request).await.unwrap().hits.is_empty());
    }
}

#[tokio::test]
async fn exact_match_quotes_the_part_with_the_phrase() {
    // Characters around the phrase: ranking reads the whole content, the beginning with the phrase, or the beginning before it. All
    // parts contain its words.
    for (before, after) in [(90_000, 30_000), (200_000, 100_000), (LONG, 20_000)] {
        let (world, tenant) = start(small()).await;
        let content = filler("a", before) + "The water day.\n\n" + &filler("b", after);
        world.import_one(page(URL, &content)).await;
        for (query, rewrites) in [("water day", Vec::new()), ("pump", vec!["water day".to_owned()])] {
            assert_quotes_the_phrase(&world, &tenant, query, rewrites, before).await;
        }
    }
}

#[tokio::test]
async fn exact_match_quotes_parts_that_were_not_checked() {
    let (world, tenant) = start(small()).await;
    world.engine.verify_phrases();
    // Ranking reads 256 KiB, and 100 kB behind them are checked.
    let before = 370_000;
    world.import_one(page(URL, &(filler("a", before) + "The water day.\n\n" + &filler("b", 100_000)))).await;
    assert_quotes_the_phrase(&world, &tenant, "water day", Vec::new(), before).await;
}

/// Asserts that the only hit quotes `The water day`, which is behind `before` characters.
async fn assert_quotes_the_phrase(
    world: &TestApp,
    tenant: &Tenant,
    query: &str,
    search_queries: Vec<String>,
    before: usize,
) {
    let request = SearchRequest { exact_match: true, search_queries, passages_per_hit: 1, ..search(query) };
    let hit = world.app.search(&tenant.viewer, request).await.unwrap().hits.remove(0);
    assert_eq!(hit.passages.len(), 1);
    let text = &hit.passages[0].text;
    assert!(text.contains("The water day"), "{query} behind {before} characters: {text}");
}

#[tokio::test]
async fn continuations_join_to_the_content() {
    let (world, tenant) = start(small()).await;
    let content = filler("a", LONG);
    world.import_one(page(URL, &content)).await;
    let whole = read(&world, &tenant, read_url(URL)).await;
    let text = whole.content.unwrap();
    assert_eq!((text.text == content, text.truncated, whole.warnings.len()), (true, false, 0));
    assert_eq!(whole.passages.unwrap().iter().map(|passage| passage.text.as_str()).collect::<String>(), content);

    let (mut joined, mut start) = (String::new(), 0);
    loop {
        let range = Some(Range { start_char: start, max_chars: Some(70_001), capture_id: None });
        let part = read(&world, &tenant, ReadRequest { range, include_offsets: true, ..read_url(URL) }).await;
        let text = part.content.unwrap();
        let (end, last) = (start + text.char_count, !text.truncated);
        for passage in part.passages.unwrap() {
            let (first, last) = passage.chars.unwrap();
            assert!(first < end && last > start, "{first}..{last} of {start}..{end}");
            assert_eq!(slice(&content, first as usize, (last - first) as usize), passage.text);
        }
        joined.push_str(&text.text);
        start = end;
        if last {
            break;
        }
    }
    assert!(joined == content);
    let range = Some(Range { start_char: 10_000_000, max_chars: Some(5), capture_id: None });
    let beyond = read(&world, &tenant, ReadRequest { range, ..read_url(URL) }).await.content.unwrap();
    assert_eq!((beyond.text.as_str(), beyond.truncated), ("", false));
}

#[tokio::test]
async fn selections_read_what_they_return() {
    let walrus = "The walrus sleeps on the pump.";
    let content = format!("# Pumps\n\n{}## End\n\n{walrus}\n", filler("a", LONG));
    let mut answers = Vec::new();
    for limits in [small(), ReadLimits::default()] {
        let (world, tenant) = start(limits).await;
        world.import_one(page(URL, &content)).await;
        let with_query = |query: &str| ReadRequest {
            selection: Selection::QueryRelevant,
            query: Some(query.to_owned()),
            ..read_url(URL)
        };
        let found = read(&world, &tenant, with_query("walrus")).await;
        assert_eq!(found.content.unwrap().text, format!("## End\n\n{walrus}"));
        let passage = found.passages.unwrap().remove(0);
        assert_eq!(passage.section_path, ["Pumps", "End"]);
        let plain = ReadRequest { format: ContentFormat::Text, ..with_query("walrus") };
        assert_eq!(read(&world, &tenant, plain).await.content.unwrap().text, format!("End\n\n{walrus}"));
        let missed = read(&world, &tenant, with_query("submarine")).await;
        assert_eq!((missed.warnings, missed.content.is_none()), (vec![ReadWarning::NoMatch], true));
        let first = read(&world, &tenant, with_query(" ")).await.passages.unwrap();
        assert_eq!(first.iter().map(|passage| passage.ordinal).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let filled = read(&world, &tenant, ReadRequest { max_chars: Some(40_000), ..with_query("a3000 pump") }).await;
        let filled = filled.content.unwrap();
        assert!(filled.text.contains("a3000 ") && (30_000..=40_000).contains(&filled.char_count), "{filled:?}");

        let ids = vec![passage.passage_id.to_string(), "unknown".to_owned()];
        let by_id = ReadRequest { selection: Selection::PassageIds, passage_ids: ids, ..read_url(URL) };
        let by_id = read(&world, &tenant, by_id).await;
        assert_eq!(by_id.warnings, [ReadWarning::StalePassageIds { passage_ids: vec!["unknown".to_owned()] }]);
        assert_eq!(by_id.passages.unwrap()[0].text, passage.text);
        let include = Include { metadata: true, passages: false, capture_history: true, content: false };
        let metadata = read(&world, &tenant, ReadRequest { include, ..read_url(URL) }).await;
        assert_eq!(metadata.document.headings, ["Pumps", "End"]);
        let passage_ids = vec![passage.passage_id.to_string()];
        let unread = ReadRequest { selection: Selection::PassageIds, passage_ids, include, ..read_url(URL) };
        assert_eq!(read(&world, &tenant, unread).await.warnings, [], "nothing is read that could lack the passage");
        let text = read(&world, &tenant, ReadRequest { format: ContentFormat::Text, ..read_url(URL) }).await;
        answers.push((passage.passage_id, text.content.unwrap().text));
    }
    assert!(answers[0] == answers[1]);
}

#[tokio::test]
async fn content_that_was_stored_whole_is_divided_when_it_is_indexed() {
    let (world, tenant) = start(small()).await;
    let content = filler("a", LONG) + "The walrus sleeps.\n";
    let mut new = prepare_page(page(URL, &content), world.clock.now()).unwrap();
    let doc_id = new.document.doc_id;
    new.capture.content = Arc::unwrap_or_clone(new.parts.take().unwrap().content);
    new.capture.parts = None;
    save_pages(&world.store, vec![new], world.clock.now()).await.unwrap();
    let whole = read(&world, &tenant, read_url(URL)).await;
    assert!(whole.content.unwrap().text == content);
    world.feeder.drain_all().await.unwrap();
    assert!(map_of(&world, &tenant, doc_id).await.count() > 10);
    let divided = read(&world, &tenant, read_url(URL)).await;
    assert!(divided.content.unwrap().text == content);
    let outcome = world.app.search(&tenant.viewer, search("walrus")).await.unwrap();
    assert!(outcome.hits[0].passages[0].text.contains("walrus"));
}
