#![no_main]
//! Plans any hits for any budget: within it unless it cannot be met, and never without a hit.

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use retrieval_core::shape::{Field, HitLengths, HitPlan, Length, Measure, PagePlan, Plan, Verbosity};

#[derive(Arbitrary, Debug)]
struct Hit {
    title: u8,
    labels: u8,
    snippet: String,
    passages: Vec<u16>,
}

struct Answer;

impl Measure for Answer {
    fn page(&self, page: &PagePlan) -> Length {
        let blocks = [(page.access, 80), (page.ranking, 40), (page.integration_results, 60)];
        let shown: u64 = blocks.into_iter().filter(|(shown, _)| *shown).map(|(_, length)| length).sum();
        ascii(20 + shown + 30 * page.shed.len() as u64)
    }

    fn text(&self, text: &str) -> Length {
        Length::of(text)
    }
}

fn ascii(length: u64) -> Length {
    Length { bytes: length, chars: length }
}

fn lengths(hit: &Hit) -> HitLengths<'_> {
    let mut fields = [Length::default(); Field::ALL.len()];
    fields[Field::Title as usize] = ascii(u64::from(hit.title));
    fields[Field::Labels as usize] = ascii(u64::from(hit.labels));
    fields[Field::Passages as usize] = ascii(15);
    fields[Field::Snippet as usize] = Length::of(&hit.snippet);
    let passages = hit.passages.iter().map(|length| ascii(u64::from(*length))).collect();
    HitLengths { base: ascii(50), fields, snippet: &hit.snippet, passages }
}

fn size(hits: &[Hit], plan: &Plan) -> u64 {
    let hit = |(plan, hit): (&HitPlan, &Hit)| {
        let lengths = lengths(hit);
        let fields = plan.fields.iter().filter(|field| *field != Field::Snippet);
        let fields: u64 = fields.map(|field| lengths.fields[field as usize].chars).sum();
        let snippet = hit.snippet.get(..plan.snippet).unwrap_or(&hit.snippet);
        let snippet = if plan.fields.contains(Field::Snippet) { snippet.chars().count() as u64 } else { 0 };
        let passages = if plan.fields.contains(Field::Passages) { plan.passages } else { 0 };
        let passages: u64 = lengths.passages.iter().take(passages).map(|length| length.chars).sum();
        lengths.base.chars + fields + snippet + passages
    };
    Answer.page(&plan.page).chars + plan.hits.iter().zip(hits).map(hit).sum::<u64>()
}

fuzz_target!(|input: (Vec<Hit>, u8, u64)| {
    let (hits, verbosity, budget) = input;
    let verbosity =
        [Verbosity::IdsOnly, Verbosity::Compact, Verbosity::Standard, Verbosity::Full][usize::from(verbosity) % 4];
    let measured: Vec<HitLengths<'_>> = hits.iter().map(lengths).collect();
    let plan = Plan::within(budget, verbosity, &measured, &Answer);
    assert!(plan.hits.len() <= hits.len() && plan.hits.is_empty() == hits.is_empty());
    assert!(plan.page.unsatisfiable || size(&hits, &plan) <= budget, "{} of {budget}", size(&hits, &plan));
    assert!(plan.hits.iter().all(|hit| hit.fields.contains(Field::Title)));
    let complete = Plan::complete(verbosity, hits.len());
    assert_eq!(plan == complete, size(&hits, &complete) <= budget);
});
