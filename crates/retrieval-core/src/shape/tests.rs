#![expect(clippy::unwrap_used, reason = "tests")]

use std::cell::Cell;

use proptest::prelude::*;

use super::*;

const LEVELS: [ShedLevel; 4] =
    [ShedLevel::Passages, ShedLevel::SnippetTails, ShedLevel::PresetExtras, ShedLevel::TailResults];

/// A hit of the answer format below. An empty field is absent, except for the passages.
#[derive(Clone, Debug, Default)]
struct Hit {
    fields: [String; Field::ALL.len()],
    passages: Vec<String>,
}

impl Hit {
    fn snippet(&self) -> &str {
        &self.fields[Field::Snippet as usize]
    }

    fn has(&self, field: Field) -> bool {
        field == Field::Passages || !self.fields[field as usize].is_empty()
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Writes one hit as a line, with escapes and separators as in JSON.
fn write_hit(hit: &Hit, plan: HitPlan) -> String {
    let mut line = "* 1 https://example.com/1".to_owned();
    for field in plan.fields.iter().filter(|field| hit.has(*field)) {
        line += &match field {
            Field::Passages => {
                let shown = hit.passages.iter().take(plan.passages);
                format!(" passages [{}]", shown.map(|text| format!("<{}>", escaped(text))).collect::<String>())
            }
            Field::Snippet => format!(" snippet \"{}\"", escaped(shortened(hit.snippet(), plan.snippet))),
            field => format!(" {field:?} \"{}\"", escaped(&hit.fields[field as usize])),
        };
    }
    line + "\n"
}

fn shortened(snippet: &str, bytes: usize) -> &str {
    snippet.get(..bytes).unwrap_or(snippet)
}

fn write_page(page: &PagePlan) -> String {
    let mut text = "results:\n".to_owned();
    text += if page.access { "access: 90 of 100 requests are left\n" } else { "" };
    text += if page.ranking { "ranking: v1\n" } else { "" };
    text += if page.integration_results { "workspace: 3 of 12 — größer\n" } else { "" };
    if !page.shed.is_empty() {
        text += &format!("warning: left out {:?}\n", page.shed);
    }
    text += if page.unsatisfiable { "warning: larger than the budget\n" } else { "" };
    text + "bytes: "
}

/// Writes the answer that a plan describes. It ends with its own length.
fn write(hits: &[Hit], plan: &Plan) -> String {
    let mut text = write_page(&plan.page);
    plan.hits.iter().zip(hits).for_each(|(plan, hit)| text += &write_hit(hit, *plan));
    let mut total = text.len();
    while total < text.len() + total.to_string().len() {
        total += 1;
    }
    text + &total.to_string()
}

fn size(hits: &[Hit], plan: &Plan) -> u64 {
    write(hits, plan).chars().count() as u64
}

/// Measures the format; counts how often the page is measured.
#[derive(Default)]
struct Ruler {
    pages: Cell<usize>,
}

impl Measure for Ruler {
    fn page(&self, page: &PagePlan) -> Length {
        self.pages.set(self.pages.get() + 1);
        Length::of(&write_page(page))
    }

    fn text(&self, text: &str) -> Length {
        Length::of(&escaped(text))
    }

    fn answer_chars(&self, parts: Length) -> u64 {
        let mut total = parts.bytes;
        while total < parts.bytes + total.to_string().len() as u64 {
            total += 1;
        }
        parts.chars + (total - parts.bytes)
    }
}

fn lengths(hits: &[Hit]) -> Vec<HitLengths<'_>> {
    let measure = |hit| {
        let nothing = HitPlan { fields: Fields::NONE, snippet: WHOLE, passages: 0 };
        let base = Length::of(&write_hit(hit, nothing));
        let part = |field| write_hit(hit, HitPlan { fields: Fields::NONE.with(field), ..nothing });
        let field = |field| Length::of(&part(field)) - base;
        HitLengths {
            base,
            fields: Field::ALL.map(field),
            snippet: hit.snippet(),
            passages: hit.passages.iter().map(|text| Length::of(&format!("<{}>", escaped(text)))).collect(),
        }
    };
    hits.iter().map(measure).collect()
}

fn within(hits: &[Hit], verbosity: Verbosity, budget: u64) -> Plan {
    Plan::within(budget, verbosity, &lengths(hits), &Ruler::default())
}

fn hit(passages: usize, words: usize) -> Hit {
    let mut hit = Hit { passages: vec!["A passage with \"words\". ".repeat(10); passages], ..Hit::default() };
    for field in Field::ALL {
        hit.fields[field as usize] = format!("some {field:?}");
    }
    hit.fields[Field::Snippet as usize] = "snippet words ".repeat(words).trim_end().to_owned();
    hit
}

fn hits(count: usize) -> Vec<Hit> {
    vec![hit(3, 20); count]
}

#[test]
fn each_verbosity_adds_to_the_one_below() {
    let names = |verbosity: Verbosity| verbosity.fields().iter().collect::<Vec<_>>();
    assert_eq!(names(Verbosity::IdsOnly), [Field::Title]);
    assert_eq!(
        names(Verbosity::Compact),
        [Field::Dates, Field::Name, Field::Index, Field::Score, Field::Snippet, Field::Title]
    );
    let all = Field::ALL.into_iter().filter(|field| *field != Field::Dates);
    assert_eq!(names(Verbosity::Full), all.collect::<Vec<_>>());
    assert_eq!(Verbosity::Standard.fields(), Verbosity::Full.fields().without(Field::Provenance));

    let page = |verbosity| Plan::complete(verbosity, 1).page;
    assert!(!page(Verbosity::IdsOnly).access && page(Verbosity::Compact).access);
    assert!(page(Verbosity::IdsOnly).ranking && page(Verbosity::IdsOnly).integration_results);
}

#[test]
fn fields_stand_at_their_positions() {
    assert!(Field::ALL.into_iter().enumerate().all(|(position, field)| field as usize == position));
    assert_eq!(Fields::ALL.iter().collect::<Vec<_>>(), Field::ALL);
}

#[test]
fn complete_answer_that_fits_loses_nothing() {
    let hits = hits(5);
    let whole = Plan::complete(Verbosity::Full, 5);
    assert_eq!(within(&hits, Verbosity::Full, size(&hits, &whole)), whole);
    let one_less = within(&hits, Verbosity::Full, size(&hits, &whole) - 1);
    assert_eq!(one_less.page.shed, [ShedLevel::Passages]);
    let passages: Vec<usize> = one_less.hits.iter().map(|hit| hit.passages.min(3)).collect();
    assert_eq!(passages, [3, 3, 3, 3, 2], "one passage of the last hit makes up for the warning");
}

#[test]
fn snippets_lose_whole_words_from_their_ends() {
    let hits = hits(5);
    let lengths = lengths(&hits);
    let mut plans = (500..4_000).rev().map(|budget| Plan::within(budget, Verbosity::Full, &lengths, &Ruler::default()));
    let plan = plans.find(|plan| plan.page.shed == LEVELS[..2]).unwrap();
    assert!(plan.hits.iter().all(|hit| !hit.fields.contains(Field::Passages)), "passages go first");
    let cut: Vec<&str> = plan.hits.iter().map(|plan| shortened(hits[0].snippet(), plan.snippet)).collect();
    assert!(cut[4].len() < cut[3].len() && cut[3] == hits[0].snippet(), "the last hit loses first");
    for snippet in cut {
        assert!(snippet.ends_with("snippet") || snippet.ends_with("words"), "{snippet}");
        assert!(snippet.len() >= 80);
    }
}

#[test]
fn unspaced_scripts_are_cut_between_characters() {
    let mut chinese = hit(0, 0);
    chinese.fields[Field::Snippet as usize] = "漢".repeat(100);
    let hits = vec![chinese; 5];
    let whole = size(&hits, &Plan::complete(Verbosity::Compact, 5));
    let cut = within(&hits, Verbosity::Compact, whole - 1);
    assert_eq!(cut.page.shed, [ShedLevel::SnippetTails]);
    assert!(size(&hits, &cut) >= whole - 3, "no more than needed: {} of {whole}", size(&hits, &cut));
    let voiced = "か\u{3099}".repeat(100);
    assert!(shed::cuts(&voiced).count() > 50);
    assert!(shed::cuts(&voiced).all(|end| voiced[end..].starts_with('か')), "a mark stays with its letter");
}

#[test]
fn smallest_answer_is_one_hit_and_reports_that_it_is_too_large() {
    let hits = hits(5);
    let least = within(&hits, Verbosity::Full, 1);
    assert!(least.page.unsatisfiable && least.hits.len() == 1);
    assert_eq!(least.hits[0].fields, Fields::NONE.with(Field::Title));
    assert!(!least.page.access && !least.page.ranking && !least.page.integration_results);
    assert_eq!(least.page.shed, LEVELS);

    let mut smallest = least.clone();
    smallest.page.unsatisfiable = false;
    let fitting = within(&hits, Verbosity::Full, size(&hits, &smallest));
    assert_eq!(fitting, smallest);

    let none = within(&[], Verbosity::Standard, 1);
    assert!(none.page.unsatisfiable && none.hits.is_empty());
    assert_eq!(none.page.shed, [ShedLevel::PresetExtras]);
}

#[test]
fn page_is_measured_once_per_change_of_the_page() {
    let hits = hits(50);
    let lengths = lengths(&hits);
    for budget in (1..size(&hits, &Plan::complete(Verbosity::Full, 50))).step_by(997) {
        let ruler = Ruler::default();
        Plan::within(budget, Verbosity::Full, &lengths, &ruler);
        assert!(ruler.pages.get() <= 10, "{} times", ruler.pages.get());
    }
}

fn any_hits() -> impl Strategy<Value = Vec<Hit>> {
    let one = (0usize..4, 0usize..12, any::<[bool; 14]>(), "[a-z \"\n\\\\漢字é😀]{0,90}");
    let hit = |(passages, words, has, text): (usize, usize, [bool; 14], String)| {
        let mut hit = hit(passages, words);
        for (field, _) in Field::ALL.into_iter().zip(has).filter(|(field, has)| !has && *field != Field::Snippet) {
            hit.fields[field as usize].clear();
        }
        if has[Field::Snippet as usize] {
            hit.fields[Field::Snippet as usize].clone_from(&text);
            hit.fields[Field::Description as usize].clone_from(&text);
            hit.passages.push(text);
        }
        hit
    };
    prop::collection::vec(one.prop_map(hit), 0..6)
}

fn any_verbosity() -> impl Strategy<Value = Verbosity> {
    prop_oneof![Just(Verbosity::IdsOnly), Just(Verbosity::Compact), Just(Verbosity::Standard), Just(Verbosity::Full)]
}

/// Lists all plans from the complete one to the smallest, each with one part less, as the documentation says.
fn removals(hits: &[Hit], verbosity: Verbosity) -> Vec<Plan> {
    let mut plans = vec![Plan::complete(verbosity, hits.len())];
    let mut remove = |level: ShedLevel, change: &dyn Fn(&mut Plan)| {
        let mut plan = plans.last().unwrap().clone();
        if plan.page.shed.last() != Some(&level) {
            plan.page.shed.push(level);
        }
        change(&mut plan);
        plans.push(plan);
    };
    let shown = |field| move |hit: &Hit| verbosity.fields().contains(field) && hit.has(field);
    let from_last = || hits.iter().enumerate().rev();
    for (index, hit) in from_last().filter(|(_, hit)| shown(Field::Passages)(hit)) {
        for kept in (0..hit.passages.len()).rev() {
            remove(ShedLevel::Passages, &|plan| {
                let hit = &mut plan.hits[index];
                hit.passages = kept;
                hit.fields = if kept == 0 { hit.fields.without(Field::Passages) } else { hit.fields };
            });
        }
    }
    for (index, hit) in from_last().filter(|(_, hit)| shown(Field::Snippet)(hit)) {
        let cuts: Vec<usize> = shed::cuts(hit.snippet()).collect();
        for cut in cuts.into_iter().rev() {
            remove(ShedLevel::SnippetTails, &|plan| plan.hits[index].snippet = cut);
        }
    }
    for (index, hit) in from_last() {
        for field in Field::ALL.into_iter().filter(|field| shown(*field)(hit)) {
            if !matches!(field, Field::Snippet | Field::Title) && (field != Field::Passages || hit.passages.is_empty())
            {
                remove(ShedLevel::PresetExtras, &|plan| {
                    let hit = &mut plan.hits[index];
                    hit.fields = hit.fields.without(field);
                });
            }
        }
    }
    remove(ShedLevel::PresetExtras, &|plan| plan.page.integration_results = false);
    remove(ShedLevel::PresetExtras, &|plan| plan.page.ranking = false);
    if verbosity != Verbosity::IdsOnly {
        remove(ShedLevel::PresetExtras, &|plan| plan.page.access = false);
    }
    for _ in 1..hits.len() {
        remove(ShedLevel::TailResults, &|plan| plan.hits.truncate(plan.hits.len() - 1));
    }
    if hits.first().is_some_and(shown(Field::Snippet)) {
        let level = if hits.len() > 1 { ShedLevel::TailResults } else { ShedLevel::PresetExtras };
        remove(level, &|plan| {
            let hit = &mut plan.hits[0];
            (hit.fields, hit.snippet) = (hit.fields.without(Field::Snippet), WHOLE);
        });
    }
    plans
}

/// Amount that a plan shows, to compare plans of the same hits.
fn amounts(hits: &[Hit], plan: &Plan) -> [usize; 4] {
    let sum = |count: &dyn Fn(&HitPlan, &Hit) -> usize| {
        plan.hits.iter().zip(hits).map(|(plan, hit)| count(plan, hit)).sum::<usize>()
    };
    let page = [plan.page.access, plan.page.ranking, plan.page.integration_results];
    [
        plan.hits.len(),
        sum(&|plan, _| plan.fields.iter().count()) + page.into_iter().filter(|shown| *shown).count(),
        sum(&|plan, hit| match plan.fields.contains(Field::Snippet) {
            true => shortened(hit.snippet(), plan.snippet).len(),
            false => 0,
        }),
        sum(&|plan, hit| match plan.fields.contains(Field::Passages) {
            true => plan.passages.min(hit.passages.len()),
            false => 0,
        }),
    ]
}

proptest! {
    /// Compares the arithmetic with answers that are really written: the plan is the first that fits when one part after
    /// another is removed.
    #[test]
    fn as_little_as_needed_is_removed_in_order(hits in any_hits(), verbosity in any_verbosity(), budget in 1u64..6_000) {
        let plan = within(&hits, verbosity, budget);
        let plans = removals(&hits, verbosity);
        match plans.iter().find(|plan| size(&hits, plan) <= budget) {
            Some(first) => prop_assert_eq!(&plan, first),
            None => {
                let mut last = plans.last().unwrap().clone();
                last.page.unsatisfiable = true;
                prop_assert_eq!(&plan, &last);
            }
        }
        prop_assert!(plan.page.shed.is_sorted());
        prop_assert_eq!(plan.hits.is_empty(), hits.is_empty());
    }

    #[test]
    fn titles_stay_and_snippets_go_last(hits in any_hits(), verbosity in any_verbosity(), budget in 1u64..6_000) {
        let plan = within(&hits, verbosity, budget);
        prop_assert!(plan.hits.iter().all(|hit| hit.fields.contains(Field::Title)));
        if verbosity != Verbosity::IdsOnly {
            let links = plan.hits.iter().filter(|hit| !hit.fields.contains(Field::Snippet)).count();
            prop_assert!(links == 0 || plan.hits.len() == 1, "{} of {} hits are links", links, plan.hits.len());
        }
    }

    #[test]
    fn every_budget_is_used_to_the_character(hits in any_hits(), verbosity in any_verbosity(), pick in any::<prop::sample::Index>()) {
        let plans = removals(&hits, verbosity);
        let exact = size(&hits, pick.get(&plans));
        let plan = within(&hits, verbosity, exact);
        prop_assert!(!plan.page.unsatisfiable && size(&hits, &plan) <= exact);
        prop_assert!(plan == within(&hits, verbosity, exact - 1) || size(&hits, &plan) == exact);
    }

    #[test]
    fn more_budget_never_shows_less(hits in any_hits(), verbosity in any_verbosity(), low in 1u64..5_000, more in 0u64..2_000) {
        let less = amounts(&hits, &within(&hits, verbosity, low));
        let greater = amounts(&hits, &within(&hits, verbosity, low + more));
        for (less, greater) in less.into_iter().zip(greater) {
            prop_assert!(less <= greater);
        }
    }
}
