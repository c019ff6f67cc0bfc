//! Durations of the parts on generated text: `cargo run --release -p retrieval-core --example core_throughput`.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use retrieval_core::analysis::{Analyzer, Analyzers};
use retrieval_core::passages::{self, PassageSpan};
use retrieval_core::rerank::{self, Document, DocumentText, Query, READ_BYTES, TermVector};
use retrieval_core::shape::{Field, HitLengths, Length, Measure, PagePlan, Plan, Verbosity};
use retrieval_core::snippet::{KnownPassage, SNIPPET_CHARS, Snippets};
use retrieval_core::statistics::CollectionStatistics;
use retrieval_core::{chars, outline, plain, select};

const QUERY: &str = "how does wano affect the tira of rumo and losi";

fn main() {
    let documents: Vec<String> = (0..100).map(|seed| text(1_500, seed)).collect();
    let spans: Vec<Vec<PassageSpan>> = documents.iter().map(|text| passages::split(text)).collect();
    let texts: Vec<DocumentText<'_>> = documents
        .iter()
        .zip(&spans)
        .map(|(content, passages)| DocumentText {
            title: &content[2..content.find('\n').unwrap_or(2)],
            description: "",
            content,
            passages,
            language: Some("en"),
        })
        .collect();
    let mut analyzers = Analyzers::default();
    let mut vectors = || texts.iter().map(|text| TermVector::of(text, READ_BYTES, &mut analyzers)).collect::<Vec<_>>();
    let made = vectors();
    let candidates: Vec<Document<'_>> =
        made.iter().map(|terms| Document { terms, published_at: None, by_words: true }).collect();
    let query = Query { text: QUERY, now: None };
    let statistics = CollectionStatistics { documents: 100_000, average_length: 260.0, ..Default::default() };
    let bytes = documents.iter().map(String::len).sum();

    let mut analyzer = Analyzer::new(None);
    time("analyse 100 documents of 1,500 characters", bytes, || {
        let mut tokens = 0;
        documents.iter().for_each(|text| analyzer.tokens(text, |_| tokens += 1));
        tokens
    });
    time("term vectors of 100 documents of 1,500 characters", bytes, &mut vectors);
    time("score 100 candidates of 1,500 characters", bytes, || rerank::score(&query, &candidates, &statistics));
    time("10 snippets", bytes / 10, || {
        let mut snippets = Snippets::new(QUERY, &mut analyzers);
        let first = texts[..10].iter().map(|text| &text.content[text.passages[0].bytes.clone()]);
        first.map(|text| snippets.snippet(text, Some("en"), SNIPPET_CHARS)).collect::<Vec<_>>()
    });
    time("10 snippets of known terms", bytes / 10, || {
        let mut snippets = Snippets::new(QUERY, &mut analyzers);
        let first = made.iter().zip(&texts).take(10).map(|(terms, text)| KnownPassage {
            terms,
            content: text.content,
            position: 0,
            bytes: text.passages[0].bytes.clone(),
        });
        first.map(|passage| snippets.snippet_of(&passage, Some("en"), SNIPPET_CHARS)).collect::<Vec<_>>()
    });

    let large = text(1_000_000, 7);
    time("split 1 MB", large.len(), || passages::split(&large));
    let large_spans = passages::split(&large);
    time("select in 1 MB", large.len(), || select::query_relevant(QUERY, &large, &large_spans, Some("en")));
    time("plain text of 1 MB", large.len(), || plain::from_markdown(&large));
    time("headings of 1 MB", large.len(), || outline::headings(&large).count());
    time("last characters of 1 MB", large.len(), || chars::slice(&large, 990_000, 100).1);

    let hits: Vec<HitLengths<'_>> = documents[..50].iter().map(|text| lengths(&text[..300])).collect();
    time("plan 50 hits for half their size", 0, || Plan::within(10_000, Verbosity::Full, &hits, &Plain));
}

/// Lengths of a hit with nothing but a snippet.
fn lengths(snippet: &str) -> HitLengths<'_> {
    let mut fields = [Length::default(); Field::ALL.len()];
    fields[Field::Snippet as usize] = Length::of(snippet);
    HitLengths { base: Length { bytes: 100, chars: 100 }, fields, snippet, passages: Vec::new() }
}

/// An answer without escapes and without anything around its hits.
struct Plain;

impl Measure for Plain {
    fn page(&self, _: &PagePlan) -> Length {
        Length::default()
    }

    fn text(&self, text: &str) -> Length {
        Length::of(text)
    }
}

/// Prints the fastest of many runs, which is the least disturbed by other load.
fn time<T>(name: &str, bytes: usize, mut run: impl FnMut() -> T) {
    let mut fastest = Duration::MAX;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        let start = Instant::now();
        black_box(run());
        fastest = fastest.min(start.elapsed());
    }
    let rate = bytes as f64 / fastest.as_secs_f64() / 1e6;
    println!("{name:45} {:9.3} ms {rate:8.0} MB/s", fastest.as_secs_f64() * 1e3);
}

/// Generates Markdown of about `length` characters with word frequencies of natural language (Zipf).
fn text(length: usize, seed: u64) -> String {
    let syllables = ["wa", "no", "ti", "ra", "ru", "mo", "lo", "si", "ke", "den", "for", "al"];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text = String::from("# Wano and tira\n\n");
    while text.len() < length {
        for sentence in 0..6 {
            for word in 0..14 {
                let mut rank = (random() * 10.0).exp2().powf(1.4) as usize;
                text.push_str(if word > 0 { " " } else { "" });
                loop {
                    text.push_str(syllables[rank % syllables.len()]);
                    rank /= syllables.len();
                    if rank == 0 {
                        break;
                    }
                }
            }
            text.push_str(if sentence < 5 { ". " } else { ".\n\n" });
        }
        if random() < 0.2 {
            text.push_str("## Rumo\n\n");
        }
    }
    text
}
