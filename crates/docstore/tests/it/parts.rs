//! Contents that are stored in parts.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use docstore::{LoadedPart, NewDocument, NewPageRead, Passage, SaveOutcome, WantedParts, divide_at};
use model::{CaptureId, Collection, DocId, OrganizationId};

use crate::support::{Database, NOW, at, divided, new_organization, page, workspace_document};

on_both_backends!(
    parts_join_to_the_content,
    parts_are_read_by_those_who_may_read_the_capture,
    replaced_parts_are_gone,
    whole_content_is_divided_later,
    an_organizations_own_reading_is_divided,
    any_number_of_divided_contents_is_loaded,
    reverted_migration_joins_the_parts,
);

const CONTENT: &str = "The quick brown fox jumps over the lazy dog, and the dog sleeps on until the evening comes.";

async fn load(db: &Database, reader: OrganizationId, capture_id: CaptureId, parts: &[usize]) -> Vec<LoadedPart> {
    let mut loaded = db.load_parts(reader, vec![WantedParts { capture_id, parts: parts.to_vec() }]).await.unwrap();
    loaded.sort_by_key(|part| part.part);
    loaded
}

fn joined(parts: &[LoadedPart]) -> String {
    parts.iter().map(|part| part.content.as_str()).collect()
}

async fn parts_join_to_the_content(db: Database) {
    let reader = new_organization(&db).await;
    let new = divided(page("https://example.com/", CONTENT));
    let map = new.capture.parts.clone().unwrap();
    let (doc_id, capture_id, passages) = (new.document.doc_id, new.capture.capture_id, new.passages.clone());
    db.save_documents(vec![new], NOW).await.unwrap();
    let first = db.load_documents(Collection::Web, vec![doc_id]).await.unwrap().remove(0);
    assert_eq!(first.capture.parts.as_ref(), Some(&map));
    assert_eq!(first.capture.content, CONTENT[..map.start(1).byte]);
    assert_eq!(first.passages, passages[..map.start(1).passage]);
    assert!(db.load_known_documents(Collection::Web, vec![(doc_id, capture_id)]).await.unwrap().is_empty());
    let found = db.read_document(reader, doc_id).await.unwrap().and_then(|(_, stored)| stored).unwrap();
    assert_eq!((found.capture, found.passages), (first.capture, first.passages));

    let all: Vec<usize> = (0..map.count()).collect();
    let parts = load(&db, reader, capture_id, &all).await;
    assert_eq!(joined(&parts), CONTENT);
    let of_parts: Vec<Passage> = parts.iter().flat_map(|part| part.passages.clone()).collect();
    assert_eq!(of_parts, passages);
    let last = load(&db, reader, capture_id, &[map.count() - 1, 100]).await;
    assert_eq!((last.len(), last[0].content.as_str()), (1, &CONTENT[map.start(map.count() - 1).byte..]));

    let (_, indexed) = db.load_for_indexing(vec![doc_id]).await.unwrap().remove(0);
    assert_eq!(indexed.content + &db.load_rest(capture_id).await.unwrap(), CONTENT);
    let terms = db.load_terms(reader, vec![(capture_id, vec![0, 1, 7])]).await.unwrap();
    assert_eq!((terms.len(), terms[0].bucket, terms[0].lists.as_slice()), (1, 1, &[1, 2, 3][..]));
    let wanted = [&passages[0], &passages[6]].map(|passage| passage.passage_id);
    let found = db.find_passages(reader, capture_id, wanted.to_vec()).await.unwrap();
    assert_eq!(found, [passages[0].clone(), passages[6].clone()]);
}

async fn parts_are_read_by_those_who_may_read_the_capture(db: Database) {
    let (owner, stranger) = (new_organization(&db).await, new_organization(&db).await);
    let new = divided(workspace_document(owner, "a.md", CONTENT));
    let (capture_id, passage_id) = (new.capture.capture_id, new.passages[0].passage_id);
    db.save_documents(vec![new], NOW).await.unwrap();
    for (reader, count) in [(owner, 2), (stranger, 0)] {
        assert_eq!(load(&db, reader, capture_id, &[0, 1]).await.len(), count);
        assert_eq!(db.load_terms(reader, vec![(capture_id, vec![1])]).await.unwrap().len(), count / 2);
        assert_eq!(db.find_passages(reader, capture_id, vec![passage_id]).await.unwrap().len(), count / 2);
    }
}

async fn replaced_parts_are_gone(db: Database) {
    let reader = new_organization(&db).await;
    let old = divided(page("https://example.com/", CONTENT));
    let capture_id = old.capture.capture_id;
    db.save_documents(vec![old.clone()], NOW).await.unwrap();
    let mut again = divided(page("https://example.com/", CONTENT));
    again.capture.captured_at = at(5);
    assert_eq!(db.save_documents(vec![again], at(5)).await.unwrap(), [SaveOutcome::Unchanged]);
    assert_eq!(
        joined(&load(&db, reader, capture_id, &[0, 1, 2, 3, 4]).await),
        CONTENT,
        "a reading again keeps the parts"
    );
    db.save_documents(vec![page("https://example.com/", "short")], NOW).await.unwrap();
    assert!(load(&db, reader, capture_id, &[0, 1]).await.is_empty());
    assert_eq!((db.count("capture_parts").await, db.count("capture_terms").await), (0, 0));
}

async fn whole_content_is_divided_later(db: Database) {
    let reader = new_organization(&db).await;
    let whole = page("https://example.com/", CONTENT);
    let (doc_id, capture_id) = (whole.document.doc_id, whole.capture.capture_id);
    let as_divided = divided(whole.clone());
    db.save_documents(vec![whole], NOW).await.unwrap();
    let passages = db.list_passages(capture_id).await.unwrap();
    assert_eq!(passages, as_divided.passages);
    let (map, parts) = (as_divided.capture.parts.unwrap(), as_divided.parts.unwrap());
    // Twice, as a task that was interrupted does.
    for _ in 0..2 {
        db.divide_capture(capture_id, map.clone(), parts.clone()).await.unwrap();
        let all: Vec<usize> = (0..map.count()).collect();
        assert_eq!(joined(&load(&db, reader, capture_id, &all).await), CONTENT);
    }
    let first = db.load_documents(Collection::Web, vec![doc_id]).await.unwrap().remove(0);
    assert_eq!(first.capture.content, CONTENT[..map.start(1).byte]);
    db.divide_capture(CaptureId(uuid::Uuid::new_v4()), map, parts).await.unwrap();
}

async fn an_organizations_own_reading_is_divided(db: Database) {
    let (reader, stranger) = (new_organization(&db).await, new_organization(&db).await);
    let new = divided(page("https://example.com/", CONTENT));
    let capture_id = new.capture.capture_id;
    db.save_page_read(NewPageRead::new(reader, new)).await.unwrap();
    assert_eq!(joined(&load(&db, reader, capture_id, &[0, 1, 2, 3, 4]).await), CONTENT);
    assert!(load(&db, stranger, capture_id, &[0, 1]).await.is_empty());
}

async fn any_number_of_divided_contents_is_loaded(db: Database) {
    let reader = new_organization(&db).await;
    let new = |number: usize| divided(page(&format!("https://example.com/{number}"), CONTENT));
    let batch: Vec<NewDocument> = (0..1_100).map(new).collect();
    let doc_ids: Vec<DocId> = batch.iter().map(|new| new.document.doc_id).collect();
    let capture_ids: Vec<CaptureId> = batch.iter().map(|new| new.capture.capture_id).collect();
    let passages = batch[0].capture.parts.as_ref().unwrap().start(1).passage;
    db.save_documents(batch, NOW).await.unwrap();
    let loaded = db.load_documents(Collection::Web, doc_ids).await.unwrap();
    assert_eq!(loaded.len(), 1_100);
    for document in loaded {
        let ordinals: Vec<i32> = document.passages.iter().map(|passage| passage.ordinal).collect();
        assert_eq!(ordinals, (0..i32::try_from(passages).unwrap()).collect::<Vec<_>>());
    }
    // Parts that are no neighbours are a condition each.
    let wanted = capture_ids.into_iter().map(|capture_id| WantedParts { capture_id, parts: vec![0, 2] }).collect();
    let parts = db.load_parts(reader, wanted).await.unwrap();
    assert_eq!((parts.len(), parts.iter().all(|part| !part.passages.is_empty())), (2_200, true));
}

async fn reverted_migration_joins_the_parts(db: Database) {
    db.save_documents(vec![divided(page("https://example.com/", CONTENT)), page("https://b.example/", "short")], NOW)
        .await
        .unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let folder = folder.join(if db.is_sqlite() { "sqlite" } else { "postgres" });
    let sql = |file: &str| fs::read_to_string(folder.join("2026-11-22-020000_content_in_parts").join(file)).unwrap();
    db.execute(&sql("down.sql")).await;
    let mut contents: Vec<String> =
        db.lines("SELECT content AS line FROM captures").await.into_iter().flatten().collect();
    // The order of the database depends on its collation.
    contents.sort();
    assert_eq!(contents, [CONTENT, "short"]);
    // An old content that is long enough waits for the feeder.
    let before = db.count("outbox").await;
    db.execute(&format!("UPDATE captures SET content = '{}' WHERE content = 'short'", "long words ".repeat(6_000)))
        .await;
    db.execute(&sql("up.sql")).await;
    assert_eq!(db.count("outbox").await, before + 1);
}

/// Cuts a text into passages of several lengths.
fn passages(content: &str, lengths: &[usize]) -> Vec<Passage> {
    let template = page("https://example.com/", "text").passages.remove(0);
    let (mut byte, mut char, mut passages) = (0, 0, Vec::new());
    for length in lengths.iter().cycle() {
        let text: String = content[byte..].chars().take(*length).collect();
        if text.is_empty() {
            break;
        }
        let (byte_end, char_end) = (byte + text.len(), char + text.chars().count());
        passages.push(Passage {
            ordinal: passages.len() as i32,
            byte_start: byte as i32,
            byte_end: byte_end as i32,
            char_start: char as i32,
            char_end: char_end as i32,
            ..template.clone()
        });
        (byte, char) = (byte_end, char_end);
    }
    passages
}

/// Texts of several scripts and passage lengths, from a fixed sequence of numbers.
fn cases() -> impl Iterator<Item = (String, Vec<usize>)> {
    const CHARS: [char; 8] = ['a', ' ', '\n', 'é', '本', '🦀', '\u{301}', '#'];
    (0..400_u64).map(|case| {
        let mut state = case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below) as usize
        };
        let text = (0..next(120)).map(|_| CHARS[next(8)]).collect();
        (text, (0..5).map(|_| 1 + next(25)).collect())
    })
}

#[test]
fn any_text_is_divided_into_its_slices() {
    let mut divided = HashMap::new();
    for (content, lengths) in cases() {
        let passages = passages(&content, &lengths);
        let count = content.chars().count();
        let Some(map) = divide_at(&content, &passages, 1, 30, 10) else {
            *divided.entry(false).or_insert(0) += 1;
            continue;
        };
        *divided.entry(true).or_insert(0) += 1;
        assert!(count > 30 && map.end().char == count && map.end().byte == content.len());
        let parts: Vec<&str> =
            (0..map.count()).map(|part| &content[map.start(part).byte..map.start(part + 1).byte]).collect();
        assert_eq!(parts.concat(), content);
        for passage in &passages {
            let part = map.part_of_passage(passage.ordinal as usize);
            let (start, end) = (map.start(part).byte, map.start(part + 1).byte);
            assert!(start <= passage.byte_start as usize && passage.byte_end as usize <= end, "{passage:?} {map:?}");
        }
        for chars in [0..1, 3..29, 0..count, count - 1..count, 12..count + 9, 5..5, count..count + 1] {
            let wanted: String = content.chars().skip(chars.start).take(chars.len()).collect();
            let found = map.parts_of_chars(&chars);
            let text: String = parts[found.clone()].concat();
            let slice: String = text
                .chars()
                .skip(chars.start - map.start(found.start).char.min(chars.start))
                .take(chars.len())
                .collect();
            assert_eq!(slice, wanted, "{chars:?} in {map:?}");
        }
        for bytes in [0, 1, content.len() / 2, content.len(), content.len() + 5] {
            let first = map.first_parts(bytes);
            assert!(first >= 1 && map.bytes(0..first) >= bytes.min(content.len()), "{bytes} in {map:?}");
        }
    }
    assert!(divided[&true] > 100 && divided[&false] > 20, "{divided:?}");
}
