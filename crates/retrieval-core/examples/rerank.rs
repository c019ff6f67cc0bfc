//! From five documents to a search result: split, rerank, snippet, shape.
//!
//! `cargo run -p retrieval-core --example rerank`
//!
//! A real service first retrieves candidates from an index. Here all documents are candidates.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use retrieval_core::analysis::Analyzers;
use retrieval_core::passages::{self, PassageSpan};
use retrieval_core::rerank::{self, Document, DocumentText, Evidence, Query, RANKER_VERSION, READ_BYTES, TermVector};
use retrieval_core::shape::{Field, Fields, HitLengths, HitPlan, Length, Measure, PagePlan, Plan, Verbosity};
use retrieval_core::snippet::{SNIPPET_CHARS, Snippets};
use retrieval_core::statistics::CollectionStatistics;
use retrieval_core::url::CanonicalUrl;
use retrieval_core::{analysis, outline};

const QUERY: &str = "which grease for the pump bearing?";

/// URL as typed, and content.
const DOCUMENTS: [(&str, &str); 5] = [
    (
        "https://Example.com/manuals/pump?utm_source=newsletter#care",
        "# Pump manual\n\n## Installation\n\nPlace the pump on a level floor.\n\n## Maintenance\n\n\
         Once a year, the bearing of the pump takes 20 g of NLGI 2 grease. Other greases shorten its life.\n",
    ),
    ("https://example.com/manuals/oven", "# Oven manual\n\nClean the oven with a soft cloth. Do not use grease.\n"),
    ("https://example.com/pumps", "# Pumps\n\nA pump moves liquids. We sell many pumps, new and used.\n"),
    (
        "https://example.org/grease",
        "# Grease\n\nGreases are graded by NLGI from 000 to 6. Grade 2 suits most bearings.\n",
    ),
    ("https://example.org/soup", "# Soup\n\nBoil water, add vegetables, wait for an hour.\n"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 1. At ingestion: canonical URL, title, passages.
    let mut urls = Vec::new();
    let mut titles = Vec::new();
    let mut spans: Vec<Vec<PassageSpan>> = Vec::new();
    for (url, content) in DOCUMENTS {
        urls.push(CanonicalUrl::parse(url)?);
        titles.push(outline::title(content).unwrap_or_default());
        spans.push(passages::split(content));
    }
    // Term vectors can be cached as long as the document is unchanged: analysis is most of the cost of ranking.
    let mut analyzers = Analyzers::default();
    let mut vectors = Vec::new();
    for (index, (_, content)) in DOCUMENTS.iter().enumerate() {
        let (title, passages) = (titles[index].as_str(), spans[index].as_slice());
        let text = DocumentText { title, description: "", content, passages, language: Some("en") };
        vectors.push(TermVector::of(&text, READ_BYTES, &mut analyzers));
    }

    // 2. Collection statistics, which a service gets from its index.
    let mut statistics = CollectionStatistics { documents: DOCUMENTS.len() as u64, ..Default::default() };
    for term in analysis::analyze_query(QUERY, &[analysis::Language::English]).terms {
        let holds = |content: &str| content.to_lowercase().contains(&term.word);
        let frequency = DOCUMENTS.iter().filter(|(_, content)| holds(content)).count() as u64;
        statistics.document_frequency.extend(term.variants.into_iter().map(|variant| (variant, frequency)));
    }

    // 3. The candidates, best first.
    let documents: Vec<Document<'_>> =
        vectors.iter().map(|terms| Document { terms, published_at: None, by_words: true }).collect();
    let evidence = rerank::score(&Query { text: QUERY, now: None }, &documents, &statistics);
    let mut ranked: Vec<(usize, &Evidence)> = evidence.iter().enumerate().collect();
    ranked.retain(|(_, evidence)| evidence.score > 0.0);
    ranked.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));

    // 4. The best passage of each, and a snippet of that.
    let mut snippets = Snippets::new(QUERY, &mut analyzers);
    let mut hits = Vec::new();
    for (index, evidence) in ranked {
        let Some(best) = evidence.passages.first().map(|position| &spans[index][*position]) else { continue };
        let passage = best.text(DOCUMENTS[index].1);
        hits.push(Hit {
            url: urls[index].to_string(),
            title: titles[index].clone(),
            snippet: snippets.snippet(passage, Some("en"), SNIPPET_CHARS),
            section: best.section_path.join(" / "),
            passage,
            score: evidence.score,
        });
    }

    // 5. As much of it as fits into 600 characters.
    let lengths: Vec<HitLengths<'_>> = hits.iter().map(Hit::lengths).collect();
    let plan = Plan::within(600, Verbosity::Standard, &lengths, &PlainText);
    let answer: String = hits.iter().zip(&plan.hits).map(|(hit, plan)| hit.write(*plan)).collect();
    println!("{QUERY}   ({RANKER_VERSION})\n");
    print!("{answer}");
    let left_out: Vec<&str> = plan.page.shed.iter().map(|level| level.as_str()).collect();
    println!("{} characters; left out for the budget: {}", answer.chars().count(), left_out.join(", "));
    Ok(())
}

/// A hit of this example.
struct Hit<'a> {
    url: String,
    title: String,
    snippet: String,
    section: String,
    passage: &'a str,
    score: f64,
}

impl Hit<'_> {
    /// Writes the planned parts as plain text; a service would write JSON.
    fn write(&self, plan: HitPlan) -> String {
        let mut out = String::new();
        let mut line = |field, text: String| {
            if plan.fields.contains(field) {
                out += &format!("   {text}\n");
            }
        };
        line(Field::Title, self.title.clone());
        line(Field::Score, format!("{:.2}", self.score));
        line(Field::Snippet, self.snippet.get(..plan.snippet).unwrap_or(&self.snippet).to_owned());
        if plan.passages > 0 {
            line(Field::Passages, format!("> under {}, {} characters", self.section, self.passage.chars().count()));
        }
        format!("{}\n{out}\n", self.url)
    }

    fn lengths(&self) -> HitLengths<'_> {
        let part = |fields, passages| Length::of(&self.write(HitPlan { fields, snippet: usize::MAX, passages }));
        let base = part(Fields::NONE, 0);
        let added = |field| part(Fields::NONE.with(field), 0) - base;
        let passage = part(Fields::NONE.with(Field::Passages), 1) - base;
        HitLengths { base, fields: Field::ALL.map(added), snippet: &self.snippet, passages: vec![passage] }
    }
}

/// The plain text around the hits: nothing.
struct PlainText;

impl Measure for PlainText {
    fn page(&self, _: &PagePlan) -> Length {
        Length::default()
    }

    fn text(&self, text: &str) -> Length {
        Length::of(text)
    }
}
