#![expect(clippy::unwrap_used, reason = "tests")]

use std::cell::Cell;

use proptest::prelude::*;

use super::*;

const LEVELS: [ShedLevel; 4] =
    [ShedLevel::Passages, ShedLevel::SnippetTails, ShedLevel::PresetExtras, ShedLevel::TailResults];

/// The characters of an answer much like the real one: escapes, braces, field names, and the warnings that follow from
/// what was given up.
fn size(state: &Shaped) -> u64 {
    let text =
        |value: &str| value.chars().map(|c| if matches!(c, '"' | '\\' | '\n') { 2 } else { 1 }).sum::<usize>() + 3;
    let field = |name: &str, value: Option<usize>| value.map_or(0, |value| name.len() + 4 + value);
    let optional = |name: &str, value: &Option<String>| field(name, value.as_deref().map(text));
    let passage = |passage: &HitPassage| {
        90 + text(&passage.text)
            + optional("section_heading", &passage.section_heading)
            + passage.section_path.iter().map(|heading| text(heading)).sum::<usize>()
    };
    let hit = |hit: &SearchHit| {
        70 + text(&hit.canonical_url)
            + optional("title", &hit.title)
            + optional("description", &hit.description)
            + optional("snippet", &hit.snippet)
            + optional("mime", &hit.mime)
            + optional("source_url", &hit.source_url)
            + optional("source_uri", &hit.source_uri)
            + optional("index", &hit.index)
            + field("labels", hit.labels.as_ref().map(|all| 4 + all.iter().map(|label| text(label)).sum::<usize>()))
            + field("passages", hit.passages.as_ref().map(|all| 4 + all.iter().map(passage).sum::<usize>()))
            + field("metadata", hit.metadata.as_ref().map(|found| 2 + optional("published_at", &found.published_at)))
            + field("provenance", hit.provenance.as_ref().map(|found| 60 + text(&found.capture_time)))
            + field("score", hit.score.map(|_| 20))
    };
    let mut total = 120 + state.hits.iter().map(hit).sum::<usize>();
    total += 90 * usize::from(state.access) + 60 * usize::from(state.ranking);
    total += 70 * usize::from(state.integration_results);
    if !state.shed.is_empty() {
        total += 130 + state.shed.iter().map(|level| level.as_str().len() + 3).sum::<usize>();
    }
    (total + 110 * usize::from(state.unsatisfiable)) as u64
}

fn hit(rank: u32, passages: usize, words: usize) -> SearchHit {
    let passage = |ordinal| HitPassage { ordinal, text: "A passage with words. ".repeat(10), ..Default::default() };
    SearchHit {
        rank,
        canonical_url: format!("https://example.com/{rank}"),
        title: Some(format!("Document {rank}")),
        description: Some("What it is about".into()),
        snippet: (words > 0).then(|| "snippet words ".repeat(words).trim_end().to_owned()),
        mime: Some("text/html".into()),
        index: Some("web".into()),
        labels: Some(Vec::new()),
        metadata: Some(HitMetadata {
            content_digest: Some("abc".into()),
            first_seen_at: Some("2026-01-01T00:00:00Z".into()),
            published_at: Some("2025-01-01T00:00:00Z".into()),
            ..Default::default()
        }),
        passages: Some((0..passages as u32).map(passage).collect()),
        provenance: Some(HitProvenance { capture_time: "2026-01-01T00:00:00Z".into(), ..Default::default() }),
        score: Some(0.5),
        ..Default::default()
    }
}

fn hits(count: u32) -> Vec<SearchHit> {
    (1..=count).map(|rank| hit(rank, 3, 20)).collect()
}

fn within(budget: u64) -> Shaped {
    shape(hits(5), Verbosity::Full, Some(budget), &size)
}

#[test]
fn each_verbosity_adds_to_the_one_below() {
    let shown = |verbosity| shape(hits(1), verbosity, None, &size);
    let ids = shown(Verbosity::IdsOnly);
    let least = SearchHit { rank: 1, ..SearchHit::default() };
    let least = SearchHit { canonical_url: "https://example.com/1".into(), title: Some("Document 1".into()), ..least };
    assert_eq!(ids.hits, [least]);
    assert!(!ids.access && ids.ranking && ids.integration_results);

    let compact = &shown(Verbosity::Compact).hits[0];
    assert!(compact.snippet.is_some() && compact.score.is_some() && compact.index.is_some());
    assert!(compact.passages.is_none() && compact.labels.is_none() && compact.description.is_none());
    let dates = compact.metadata.as_ref().unwrap();
    assert!(dates.published_at.is_some() && dates.content_digest.is_none() && dates.first_seen_at.is_none());

    let standard = &shown(Verbosity::Standard).hits[0];
    assert_eq!(SearchHit { provenance: hit(1, 3, 20).provenance, ..standard.clone() }, hit(1, 3, 20));
    assert!(standard.provenance.is_none());
    assert_eq!(shown(Verbosity::Full).hits, hits(1));
    assert!(shown(Verbosity::Full).access);
}

#[test]
fn nothing_is_given_up_when_everything_fits() {
    let whole = shape(hits(5), Verbosity::Full, None, &size);
    assert_eq!(within(size(&whole)), whole);
    let one_less = within(size(&whole) - 1);
    assert_eq!(one_less.shed, [ShedLevel::Passages]);
    let passages: Vec<usize> = one_less.hits.iter().map(|hit| hit.passages.as_ref().map_or(0, Vec::len)).collect();
    assert_eq!(passages, [3, 3, 3, 3, 2], "one passage of the last hit makes up for the warning");
}

#[test]
fn snippets_lose_whole_words_from_their_ends_and_no_mark_is_added() {
    let state = (500..4_000).map(within).find(|state| state.shed == LEVELS[..2]).unwrap();
    assert!(state.hits.iter().all(|hit| hit.passages.is_none()), "passages go first");
    let whole = hit(1, 0, 20).snippet.unwrap();
    for snippet in state.hits.iter().filter_map(|hit| hit.snippet.as_ref()) {
        assert!(whole.starts_with(snippet.as_str()) && (snippet.ends_with("snippet") || snippet.ends_with("words")));
        assert!(snippet.len() >= 40);
    }
    // Scripts without spaces are cut between characters.
    let chinese = |rank| SearchHit { snippet: Some("漢".repeat(100)), passages: None, ..hit(rank, 0, 0) };
    let hits: Vec<SearchHit> = (1..=5).map(chinese).collect();
    let whole = size(&shape(hits.clone(), Verbosity::Compact, None, &size));
    let cut = shape(hits, Verbosity::Compact, Some(whole - 1), &size);
    assert_eq!(cut.shed, [ShedLevel::SnippetTails]);
    assert!(size(&cut) >= whole - 3, "no more than needed: {} of {whole}", size(&cut));
}

#[test]
fn the_least_answer_is_one_hit_and_says_so_when_it_is_too_long() {
    let least = within(1);
    assert!(least.unsatisfiable && least.hits.len() == 1);
    assert_eq!(
        least.hits[0],
        SearchHit { rank: 1, canonical_url: "https://example.com/1".into(), ..Default::default() }
    );
    assert!(!least.access && !least.ranking && !least.integration_results);
    assert_eq!(least.shed, LEVELS);
    let fitting = within(size(&Shaped { unsatisfiable: false, ..least.clone() }));
    assert!(!fitting.unsatisfiable && fitting.hits[0].title.is_none());
    let none = shape(Vec::new(), Verbosity::Standard, Some(1), &size);
    assert!(none.unsatisfiable && none.hits.is_empty() && none.shed == [ShedLevel::PresetExtras]);
}

#[test]
fn the_size_is_asked_for_seldom() {
    let asked = Cell::new(0);
    let counted = |state: &Shaped| {
        asked.set(asked.get() + 1);
        size(state)
    };
    let many: Vec<SearchHit> = (1..=50).map(|rank| hit(rank, 3, 20)).collect();
    let whole = size(&shape(many.clone(), Verbosity::Full, None, &size));
    for budget in (1..whole).step_by(997) {
        asked.set(0);
        shape(many.clone(), Verbosity::Full, Some(budget), &counted);
        assert!(asked.get() <= 18, "{} times", asked.get());
    }
}

fn any_hits() -> impl Strategy<Value = Vec<SearchHit>> {
    let one = (0usize..4, 0usize..12, any::<[bool; 8]>(), "[a-z \"漢字é]{0,90}");
    prop::collection::vec(one, 0..6).prop_map(|all| {
        let hits = all.into_iter().enumerate().map(|(index, (passages, words, has, text))| {
            let mut hit = hit(index as u32 + 1, passages, words);
            hit.title = hit.title.filter(|_| has[0]);
            hit.description = Some(text.clone()).filter(|_| has[1]);
            hit.snippet = if has[2] { Some(text) } else { hit.snippet };
            hit.passages = hit.passages.filter(|_| has[3]);
            hit.labels = if has[4] { Some(vec!["a".into()]) } else { hit.labels };
            hit.metadata = hit.metadata.filter(|_| has[5]);
            hit.score = hit.score.filter(|_| has[6]);
            hit.mime = hit.mime.filter(|_| has[7]);
            hit
        });
        hits.collect()
    })
}

fn any_verbosity() -> impl Strategy<Value = Verbosity> {
    prop_oneof![Just(Verbosity::IdsOnly), Just(Verbosity::Compact), Just(Verbosity::Standard), Just(Verbosity::Full)]
}

/// How much an answer shows, to compare answers of the same hits: the later level decides, then what is left of each.
fn shown(state: &Shaped) -> [usize; 4] {
    let sum = |count: fn(&SearchHit) -> usize| state.hits.iter().map(count).sum::<usize>();
    let page = usize::from(state.access) + usize::from(state.ranking) + usize::from(state.integration_results);
    let fields = |hit: &SearchHit| {
        let fields = [hit.title.is_some(), hit.description.is_some(), hit.mime.is_some(), hit.index.is_some()];
        let more = [hit.labels.is_some(), hit.metadata.is_some(), hit.score.is_some(), hit.provenance.is_some()];
        fields.into_iter().chain(more).filter(|shown| *shown).count()
    };
    [
        state.hits.len(),
        sum(fields) + page,
        sum(|hit| hit.snippet.as_ref().map_or(0, String::len)),
        sum(|hit| hit.passages.as_ref().map_or(0, Vec::len)),
    ]
}

proptest! {
    #[test]
    fn an_answer_keeps_to_its_budget(hits in any_hits(), verbosity in any_verbosity(), budget in 1u64..6_000) {
        let shaped = shape(hits.clone(), verbosity, Some(budget), &size);
        prop_assert!(shaped.unsatisfiable || size(&shaped) <= budget, "{} > {budget}", size(&shaped));
        prop_assert_eq!(shaped.hits.is_empty(), hits.is_empty());
        let whole = shape(hits, verbosity, None, &size);
        prop_assert_eq!(shaped == whole, size(&whole) <= budget);
        prop_assert!(shaped.shed.is_sorted());
    }

    /// The answer is the first that fits when one thing after another is taken away.
    #[test]
    fn as_little_as_needed_is_given_up_in_order(hits in any_hits(), verbosity in any_verbosity(), budget in 1u64..6_000) {
        let shaped = shape(hits.clone(), verbosity, Some(budget), &size);
        let mut state = shape(hits, verbosity, None, &size);
        let mut first = (size(&state) <= budget).then(|| state.clone());
        for level in LEVELS {
            let steps = shed::steps(&state, level);
            for count in 1..=steps {
                let mut next = state.clone();
                shed::take(&mut next, level, count);
                next.shed.push(level);
                if first.is_none() && size(&next) <= budget {
                    first = Some(next.clone());
                }
                if count == steps {
                    state = next;
                    break;
                }
            }
        }
        match first {
            Some(first) => prop_assert_eq!(shaped, first),
            None => prop_assert!(shaped.hits.iter().all(|hit| hit.title.is_none()), "the last resort"),
        }
    }

    #[test]
    fn more_budget_never_shows_less(hits in any_hits(), verbosity in any_verbosity(), low in 1u64..5_000, more in 0u64..2_000) {
        let less = shown(&shape(hits.clone(), verbosity, Some(low), &size));
        let greater = shown(&shape(hits, verbosity, Some(low + more), &size));
        for (less, greater) in less.into_iter().zip(greater) {
            prop_assert!(less <= greater);
        }
    }
}
