//! Giving up as little as a budget asks for.
//!
//! Each level is a list of steps, from the last hit upwards, each of which takes one thing away. The steps are tried by
//! bisection: within a level, more steps never make the answer longer.

use super::{SearchHit, Shaped, ShedLevel};

/// A snippet that would be shorter than this goes whole: a few words say nothing about a document.
const SHORTEST_SNIPPET: usize = 40;

pub(super) fn shed(whole: Shaped, budget: u64, size: &dyn Fn(&Shaped) -> u64) -> Shaped {
    let fits = |state: &Shaped| size(state) <= budget;
    if fits(&whole) {
        return whole;
    }
    let mut state = whole;
    for level in [ShedLevel::Passages, ShedLevel::SnippetTails, ShedLevel::PresetExtras, ShedLevel::TailResults] {
        let steps = steps(&state, level);
        if steps == 0 {
            continue;
        }
        let after = |count: usize| {
            let mut next = state.clone();
            take(&mut next, level, count);
            next.shed.push(level);
            next
        };
        let all = after(steps);
        if fits(&all) {
            // The least number of steps that fits is in (few, enough].
            let (mut few, mut enough, mut best) = (0, steps, all);
            while enough - few > 1 {
                let middle = few + (enough - few) / 2;
                let tried = after(middle);
                if fits(&tried) {
                    (enough, best) = (middle, tried);
                } else {
                    few = middle;
                }
            }
            return best;
        }
        state = all;
    }
    untitled(state, &fits)
}

/// The last resort: the one hit that is left loses its title too.
fn untitled(mut state: Shaped, fits: &dyn Fn(&Shaped) -> bool) -> Shaped {
    if let Some(hit) = state.hits.first_mut().filter(|hit| hit.title.is_some()) {
        hit.title = None;
        if !state.shed.contains(&ShedLevel::PresetExtras) {
            state.shed.push(ShedLevel::PresetExtras);
            state.shed.sort_unstable();
        }
        if fits(&state) {
            return state;
        }
    }
    state.unsatisfiable = true;
    state
}

/// How many steps a level has.
pub(super) fn steps(state: &Shaped, level: ShedLevel) -> usize {
    let hits = state.hits.iter();
    match level {
        ShedLevel::Passages => hits.map(|hit| hit.passages.as_ref().map_or(0, Vec::len)).sum(),
        ShedLevel::SnippetTails => hits.map(|hit| hit.snippet.as_deref().map_or(0, |text| cuts(text).count())).sum(),
        ShedLevel::PresetExtras => {
            let page = [state.access, state.ranking, state.integration_results];
            hits.map(extras).sum::<usize>() + page.into_iter().filter(|shown| *shown).count()
        }
        ShedLevel::TailResults => state.hits.len().saturating_sub(1),
    }
}

/// Takes the first `count` steps of a level, from the last hit upwards.
pub(super) fn take(state: &mut Shaped, level: ShedLevel, mut count: usize) {
    if level == ShedLevel::TailResults {
        state.hits.truncate(state.hits.len() - count);
        return;
    }
    for hit in state.hits.iter_mut().rev() {
        if count == 0 {
            return;
        }
        count -= match level {
            ShedLevel::Passages => take_passages(hit, count),
            ShedLevel::SnippetTails => take_snippet(hit, count),
            ShedLevel::PresetExtras => take_extras(hit, count),
            ShedLevel::TailResults => 0,
        };
    }
    if level == ShedLevel::PresetExtras {
        for shown in [&mut state.integration_results, &mut state.ranking, &mut state.access] {
            if count > 0 && *shown {
                *shown = false;
                count -= 1;
            }
        }
    }
}

fn take_passages(hit: &mut SearchHit, count: usize) -> usize {
    let Some(passages) = &mut hit.passages else { return 0 };
    let taken = count.min(passages.len());
    passages.truncate(passages.len() - taken);
    // A passage that was given up is left out, not null: null would say that there is none.
    if taken > 0 && passages.is_empty() {
        hit.passages = None;
    }
    taken
}

fn take_snippet(hit: &mut SearchHit, count: usize) -> usize {
    let Some(snippet) = &mut hit.snippet else { return 0 };
    let all = cuts(snippet).count();
    if count >= all {
        hit.snippet = None;
        return all;
    }
    // Cut words leave no mark: a snippet is a verbatim slice of the document, and stays one.
    let end = cuts(snippet).nth(all - count).unwrap_or_default();
    snippet.truncate(end);
    count
}

/// Where a snippet can be cut, rising: 0 (nothing is left of it), then the ends of its words, the last one not
/// included. Words of scripts without spaces are taken apart.
fn cuts(snippet: &str) -> impl Iterator<Item = usize> + '_ {
    let ends = snippet.char_indices().skip(SHORTEST_SNIPPET).scan(' ', |before, (at, character)| {
        let here = (*before, character, at);
        *before = character;
        Some(here)
    });
    let ends = ends.filter_map(|(before, character, at)| {
        let ends_word = character.is_whitespace() && !before.is_whitespace();
        (ends_word || (is_unspaced(before) && is_unspaced(character))).then_some(at)
    });
    std::iter::once(0).chain(ends)
}

/// Letters that are read without spaces between words: Chinese and Japanese. The others of the kind (Thai, Khmer, ...)
/// join marks to letters, and are cut at spaces only.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character), 0x3001..=0x3002 | 0x3041..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF)
}

/// How many fields a hit shows beyond those that every hit shows.
fn extras(hit: &SearchHit) -> usize {
    let mut hit = hit.clone();
    take_extras(&mut hit, usize::MAX)
}

/// Clears up to `count` of the fields beyond rank, document id, URL and title: what only higher verbosity shows first.
fn take_extras(hit: &mut SearchHit, count: usize) -> usize {
    fn clear<T>(field: &mut Option<T>, left: &mut usize) {
        if *left > 0 && field.take().is_some() {
            *left -= 1;
        }
    }
    let mut left = count;
    clear(&mut hit.provenance, &mut left);
    clear(&mut hit.passages, &mut left);
    clear(&mut hit.labels, &mut left);
    clear(&mut hit.source_url, &mut left);
    clear(&mut hit.source_uri, &mut left);
    clear(&mut hit.mime, &mut left);
    clear(&mut hit.description, &mut left);
    clear(&mut hit.metadata, &mut left);
    clear(&mut hit.snippet, &mut left);
    clear(&mut hit.index, &mut left);
    clear(&mut hit.score, &mut left);
    count - left
}
