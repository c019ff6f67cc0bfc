//! From five documents to a search answer: split, rerank, snippet, shape.
//!
//! `cargo run -p retrieval-core --example rerank`
//!
//! A first stage (an index that finds all documents with any of the words) is what a real service has in front of this;
//! here, all documents are candidates.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use retrieval_core::analysis::Analyzers;
use retrieval_core::passages::{self, PassageSpan};
use retrieval_core::rerank::{Candidate, DocumentText, Query, RANKER_VERSION, READ_BYTES, TermVector, rerank};
use retrieval_core::shape::{HitPassage, SearchHit, Shaped, Verbosity, shape};
use retrieval_core::snippet::{SNIPPET_CHARS, Snippets};
use retrieval_core::statistics::CollectionStatistics;
use retrieval_core::url::CanonicalUrl;
use retrieval_core::{analysis, outline};

const QUERY: &str = "which grease for the pump bearing?";

/// URL as someone typed it, and content.
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
    // 1. What a service does once, when a document comes in.
    let mut urls = Vec::new();
    let mut titles = Vec::new();
    let mut spans: Vec<Vec<PassageSpan>> = Vec::new();
    for (url, content) in DOCUMENTS {
        urls.push(CanonicalUrl::parse(url)?);
        titles.push(outline::title(content).unwrap_or_default());
        spans.push(passages::split(content));
    }
    // Its terms can be kept as long as the document does not change: analysing is most of what ranking costs.
    let mut analyzers = Analyzers::default();
    let mut vectors = Vec::new();
    for (index, (_, content)) in DOCUMENTS.iter().enumerate() {
        let (title, passages) = (titles[index].as_str(), spans[index].as_slice());
        let text = DocumentText { title, description: "", content, passages, language: Some("en") };
        vectors.push(TermVector::of(&text, READ_BYTES, &mut analyzers));
    }

    // 2. What it knows of the collection: the first stage's index counts this.
    let mut statistics = CollectionStatistics { documents: DOCUMENTS.len() as u64, ..Default::default() };
    for term in analysis::analyze_query(QUERY, &[analysis::Language::English]).terms {
        let holds = |content: &str| content.to_lowercase().contains(&term.word);
        let frequency = DOCUMENTS.iter().filter(|(_, content)| holds(content)).count() as u64;
        statistics.document_frequency.extend(term.variants.into_iter().map(|variant| (variant, frequency)));
    }

    // 3. The candidates in their best order.
    let candidates: Vec<Candidate<'_>> =
        vectors.iter().map(|terms| Candidate { terms, first_stage_score: 0.0, published_at: None }).collect();
    let query = Query { text: QUERY, now: None };
    let mut ranked = rerank(&query, &candidates, &statistics);
    ranked.retain(|found| found.score > 0.0);

    // 4. What is shown of each: its best passage, and a snippet of that.
    let mut snippets = Snippets::new(QUERY);
    let mut hits = Vec::new();
    for (rank, found) in (1..).zip(&ranked) {
        let (doc_id, content) = (urls[found.index].doc_id(), DOCUMENTS[found.index].1);
        let Some(best) = found.passages.first().map(|best| &spans[found.index][best.position]) else { continue };
        hits.push(SearchHit {
            rank,
            doc_id: doc_id.0,
            canonical_url: urls[found.index].to_string(),
            title: Some(titles[found.index].clone()),
            snippet: Some(snippets.snippet(best.text(content), Some("en"), SNIPPET_CHARS)),
            passages: Some(vec![HitPassage {
                passage_id: passages::passage_id(doc_id, "digest of the content", best.ordinal).0,
                doc_id: doc_id.0,
                ordinal: best.ordinal,
                text: best.text(content).to_owned(),
                section_heading: best.section_heading.clone(),
                section_path: best.section_path.clone(),
                ..HitPassage::default()
            }]),
            score: Some(found.score),
            ..SearchHit::default()
        });
    }

    // 5. As much of it as fits into 600 characters.
    let size = |answer: &Shaped| written(answer).chars().count() as u64;
    let answer = shape(hits, Verbosity::Standard, Some(600), &size);
    println!("{QUERY}   ({RANKER_VERSION})\n");
    print!("{}", written(&answer));
    let given_up: Vec<&str> = answer.shed.iter().map(|level| level.as_str()).collect();
    println!("{} characters; given up for the budget: {}", size(&answer), given_up.join(", "));
    Ok(())
}

/// The answer as this example writes it; a service would write JSON.
fn written(answer: &Shaped) -> String {
    let mut out = String::new();
    for hit in &answer.hits {
        let score = hit.score.map_or_else(String::new, |score| format!("   {score:.2}"));
        out += &format!("{}. {}{score}\n   {}\n", hit.rank, hit.title.as_deref().unwrap_or("-"), hit.canonical_url);
        if let Some(snippet) = &hit.snippet {
            out += &format!("   {snippet}\n");
        }
        for passage in hit.passages.iter().flatten() {
            out += &format!("   > under {}, {} characters\n", passage.section_path.join(" / "), passage.text.len());
        }
        out.push('\n');
    }
    out
}
