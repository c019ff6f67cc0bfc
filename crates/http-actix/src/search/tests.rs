#![expect(clippy::unwrap_used, reason = "tests")]

use api_types::{Access, OnExceed, RateLimit, SearchResponse};
use app::search::{HitPassage, SearchHit, SearchOutcome, UnavailableProvider, UnknownValues};
use model::{CaptureId, Collection, DocId, IndexName, OrganizationId, PassageId, SearchId, Timestamp};
use proptest::prelude::*;
use retrieval_core::shape::{Field, Measure, Plan, Verbosity};
use uuid::Uuid;

use super::hit_view::measure;
use super::request::Shaping;
use super::response::{Page, ShapedPage};

const VERBOSITIES: [Verbosity; 4] = [Verbosity::IdsOnly, Verbosity::Compact, Verbosity::Standard, Verbosity::Full];

/// Text with escapes of every length, and characters of one to four bytes.
fn any_text(max: usize) -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range('a', 'z'),
        2 => Just(' '),
        1 => prop::sample::select(vec!['"', '\\', '\n', '\t', '\u{8}', '\0', '\u{1f}', '\u{7f}', '/', '<']),
        1 => prop::sample::select(vec!['é', 'ß', '漢', '字', 'か', '\u{2028}', '😀', '🦀', 'ั']),
    ];
    prop::collection::vec(character, 0..max).prop_map(|characters| characters.into_iter().collect())
}

fn any_option() -> impl Strategy<Value = Option<String>> {
    prop::option::of(any_text(40))
}

fn any_time() -> impl Strategy<Value = Timestamp> {
    (0..4_102_444_800_000_i64).prop_map(Timestamp::from_millis)
}

fn any_passage() -> impl Strategy<Value = HitPassage> {
    let passage = (any_text(120), 0u32..1_000, prop::collection::vec(any_text(12), 0..3));
    passage.prop_map(|(text, start, section_path)| HitPassage {
        passage_id: PassageId(Uuid::from_u128(u128::from(start))),
        ordinal: start / 10,
        text,
        chars: start..start * 2,
        section_path,
    })
}

fn any_hit() -> impl Strategy<Value = SearchHit> {
    let texts = (any_option(), any_option(), any_option(), any_option(), any_text(160));
    let lists = (prop::collection::vec(any_text(10), 0..3), prop::collection::vec(any_passage(), 0..4));
    let dates = (any_time(), prop::option::of(any_time()), prop::option::of(any_time()));
    let facts = (any::<bool>(), any::<bool>(), 0u8..200, dates);
    (texts, lists, facts).prop_map(|(texts, lists, facts)| {
        let (title, description, mime, source_uri, snippet) = texts;
        let (labels, passages) = lists;
        let (web, is_snippet, score, (time, published_at, last_crawled_at)) = facts;
        SearchHit {
            rank: 1,
            // Binary fractions survive any JSON reader.
            score: f64::from(score) / 8.0,
            doc_id: DocId(Uuid::from_u128(7)),
            collection: if web { Collection::Web } else { Collection::Workspace(OrganizationId(Uuid::max())) },
            canonical_url: format!("https://example.com/{score}"),
            name: (!web).then(|| "notes \"1\".txt".to_owned()),
            source_url: "https://example.com/?q=\"é\"".to_owned(),
            source_uri,
            title,
            description,
            mime,
            language: None,
            labels,
            published_at,
            first_seen_at: time,
            last_seen_at: time,
            last_crawled_at,
            capture_id: CaptureId(Uuid::from_u128(8)),
            captured_at: time,
            is_snippet,
            content_digest: "sha256:00".to_owned(),
            snippet,
            passages,
        }
    })
}

fn any_page() -> impl Strategy<Value = Page> {
    let outcome = (prop::collection::vec(any_hit(), 0..12), prop::option::of(0u64..20_000), any::<bool>(), 0usize..3);
    let page = (outcome, any_option(), any_option(), prop::sample::select(VERBOSITIES.to_vec()));
    page.prop_map(|((mut hits, workspace_total, rerank_unavailable, filtered_results), schema, unknown, verbosity)| {
        hits.iter_mut().zip(1..).for_each(|(hit, rank)| hit.rank = rank);
        Page {
            schema,
            request_id: Uuid::from_u128(1),
            session_id: Uuid::from_u128(2).to_string(),
            access: Access {
                rate_limit: RateLimit { limit_rps: 10, remaining: 9, reset_at: "2026-01-01T00:00:00Z".to_owned() },
            },
            files_path: "/v1/files".to_owned(),
            outcome: SearchOutcome {
                search_id: SearchId(Uuid::from_u128(3)),
                charge: None,
                hits,
                ranker_version: "lexical_v6".to_owned(),
                workspace_total,
                rerank_unavailable,
                filtered_results,
                unknown_values: UnknownValues { country: filtered_results as u64, ..UnknownValues::default() },
                unavailable_providers: vec![
                    UnavailableProvider { name: "searxng", reason: "timeout" };
                    filtered_results
                ],
                semantic_unavailable: false,
                degraded: filtered_results == 1,
                empty_indexes: IndexName::ALL[..filtered_results.min(2)].to_vec(),
                read_bytes: 0,
            },
            shaping: Shaping {
                verbosity,
                unrecognized_verbosity: unknown,
                passages: true,
                max_chars: None,
                max_chars_per_result: None,
                on_exceed: OnExceed::Shed,
            },
        }
    })
}

fn chars(body: &[u8]) -> u64 {
    std::str::from_utf8(body).unwrap().chars().count() as u64
}

/// Adds up the measured parts of a plan's answer.
fn planned_chars(page: &Page, plan: &Plan) -> u64 {
    let mut total = page.page(&plan.page);
    for (hit, plan) in page.outcome.hits.iter().zip(&plan.hits) {
        let lengths = measure(hit, page.shaping.verbosity.fields()).unwrap();
        total += lengths.base;
        for field in plan.fields.iter() {
            total += lengths.fields[field as usize];
        }
        total -= page.text(hit.snippet.get(plan.snippet..).unwrap_or_default());
        if plan.fields.contains(Field::Passages) {
            lengths.passages.iter().take(plan.passages).for_each(|passage| total += *passage);
        }
    }
    page.answer_chars(total)
}

fn shape(mut page: Page, budget: Option<u64>) -> ShapedPage {
    page.shaping.max_chars = budget;
    page.shape().unwrap()
}

/// Serializes an answer, and checks it against the arithmetic and against the type that clients read.
fn checked_body(answer: &ShapedPage) -> Vec<u8> {
    let body = answer.body().unwrap();
    assert_eq!(chars(&body), planned_chars(&answer.page, &answer.plan));
    let mut read: SearchResponse = serde_json::from_slice(&body).unwrap();
    assert_eq!(read.usage.unwrap().bytes_returned, body.len() as i64);
    let written = serde_json::to_vec(&read).unwrap();
    assert_eq!(std::str::from_utf8(&written).unwrap(), std::str::from_utf8(&body).unwrap());
    read.usage.as_mut().unwrap().bytes_returned = 0;
    assert_eq!(answer.response().unwrap(), read);
    body
}

proptest! {
    #[test]
    fn planned_length_is_the_serialized_length(page in any_page(), percent in 1u64..110) {
        let complete = shape(page, None);
        let length = chars(&checked_body(&complete));
        let budget = (length * percent / 100).max(1);
        let shed = shape(complete.page, Some(budget));
        let shed_length = chars(&checked_body(&shed));
        prop_assert!(shed.plan.page.unsatisfiable || shed_length <= budget, "{} of {}", shed_length, budget);
        prop_assert_eq!(shed.plan == complete.plan, length <= budget);
    }

    #[test]
    fn results_keep_to_their_own_limit(page in any_page(), limit in 50u64..2_000, percent in 1u64..110) {
        let mut page = page;
        let before = page.outcome.hits.clone();
        page.shaping.max_chars_per_result = Some(limit);
        let limited = shape(page, None);
        let body = checked_body(&limited);
        let read: serde_json::Value = serde_json::from_slice(&body).unwrap();
        for (hit, before) in read["results"].as_array().unwrap().iter().zip(&before) {
            let length = hit.to_string().chars().count() as u64;
            let least = ["rank", "doc_id", "canonical_url", "title"];
            let is_least = hit.as_object().unwrap().keys().all(|name| least.contains(&name.as_str()));
            prop_assert!(length <= limit || is_least, "{} of {}: {}", length, limit, hit);
            if let Some(first) = hit["passages"].get(0) {
                let text = first["text"].as_str().unwrap();
                prop_assert!(before.passages[0].text.starts_with(text));
            }
        }
        let length = chars(&body);
        let budget = (length * percent / 100).max(1);
        let shed = shape(limited.page, Some(budget));
        let shed_length = chars(&checked_body(&shed));
        prop_assert!(shed.plan.page.unsatisfiable || shed_length <= budget, "{} of {}", shed_length, budget);
    }

    #[test]
    fn answer_that_fits_exactly_is_complete(page in any_page()) {
        let complete = shape(page, None);
        let length = chars(&complete.body().unwrap());
        let exact = shape(complete.page, Some(length));
        prop_assert_eq!(&exact.plan, &complete.plan);
        prop_assert_ne!(shape(exact.page, Some(length - 1)).plan, complete.plan);
    }
}
