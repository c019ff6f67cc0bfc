//! Benchmark of the embedded engine on generated documents.
//!
//! ```text
//! cargo run --release -p engine-tantivy --example first_stage_bench [documents]
//! ```

#![expect(clippy::print_stdout, reason = "prints its results")]

use std::error::Error;
use std::time::{Duration, Instant};

use engine::{Change, Filters, FirstStageRequest, IndexDocument, SearchEngine};
use engine_tantivy::{TantivyEngine, TantivyOptions};
use model::{Collection, DocId, IndexName};
use uuid::Uuid;

const BODY_CHARS: usize = 1_500;
const VOCABULARY: usize = 60_000;
const BATCH: usize = 2_000;
const SEARCHES: usize = 400;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let documents: usize = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let options = TantivyOptions { writer_idle_timeout: Duration::from_millis(200), ..TantivyOptions::default() };
    let engine = TantivyEngine::open(folder.path(), options)?;
    println!("RSS, empty                    {}", memory());

    let mut words = Words::new();
    let mut apply_time = Duration::ZERO;
    // CPU time to exclude: the start of the process, and generating documents.
    let mut excluded_cpu = cpu_seconds();
    let mut chars = 0;
    for start in (0..documents).step_by(BATCH) {
        let before = cpu_seconds();
        let batch: Vec<Change> = (start..documents.min(start + BATCH)).map(|at| words.document(at)).collect();
        chars += batch.len() * BODY_CHARS;
        // Includes concurrent merges, which are a small part of the total.
        excluded_cpu += cpu_seconds() - before;
        let begin = Instant::now();
        engine.apply(IndexName::Web, batch).await?;
        apply_time += begin.elapsed();
    }
    let seconds = apply_time.as_secs_f64();
    println!(
        "import, CPU time              {:>8.0} documents/s per core",
        documents as f64 / (cpu_seconds() - excluded_cpu)
    );
    println!(
        "import, {BATCH} per commit       {:>8.0} documents/s, {:.1} MB/s",
        documents as f64 / seconds,
        chars as f64 / seconds / 1e6
    );
    println!("RSS, after the import         {}", memory());
    tokio::time::sleep(Duration::from_secs(3)).await;
    println!("RSS, writer closed            {}", memory());
    println!("disk                          {:>8.1} MB", size_of(folder.path())? as f64 / 1e6);

    for (name, length, exact_phrase) in [("3 words", 3, false), ("8 words", 8, false), ("phrase of 2 words", 2, true)] {
        let mut times = Vec::new();
        let mut total = 0;
        for at in 0..SEARCHES {
            let text = if exact_phrase { words.phrase(at % documents) } else { words.query(length) };
            let begin = Instant::now();
            total += engine.first_stage(&request(text, exact_phrase)).await?.total;
            times.push(begin.elapsed());
        }
        report(name, times, total);
    }

    let mut times = Vec::new();
    for at in 0..100 {
        let change = words.document(at * 7 % documents);
        let begin = Instant::now();
        engine.apply(IndexName::Web, vec![change]).await?;
        times.push(begin.elapsed());
    }
    report("replace one document", times, 0);
    let mut times = Vec::new();
    for _ in 0..SEARCHES {
        let text = words.query(8);
        let begin = Instant::now();
        engine.first_stage(&request(text, false)).await?;
        times.push(begin.elapsed());
    }
    report("8 words, with deletions", times, 0);
    println!("RSS, at the end               {}", memory());
    drop(engine);
    let begin = Instant::now();
    let engine = TantivyEngine::open(folder.path(), options)?;
    println!(
        "open                          {:>8.1} ms, {} documents",
        begin.elapsed().as_secs_f64() * 1e3,
        engine.document_count(IndexName::Web).await?
    );
    Ok(())
}

fn request(text: String, exact_phrase: bool) -> FirstStageRequest {
    FirstStageRequest {
        collection: Collection::Web,
        texts: vec![text],
        exact_phrase,
        rerank_text: None,
        filters: Filters::default(),
        limit: 100,
    }
}

fn report(name: &str, mut times: Vec<Duration>, total: u64) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let matches = total as usize / times.len();
    println!("{name:<26} p50 {:>7.2} ms  p99 {:>7.2} ms  {matches} matches", at(0.5), at(0.99));
}

/// Generator of text with word frequencies proportional to 1/rank (Zipf's law).
struct Words {
    state: u64,
    vocabulary: Vec<String>,
    cumulative: Vec<f64>,
}

impl Words {
    fn new() -> Self {
        let mut words = Self { state: 0x9e37_79b9_7f4a_7c15, vocabulary: Vec::new(), cumulative: Vec::new() };
        let mut sum = 0.0;
        for rank in 1..=VOCABULARY {
            let syllables = 1 + rank.ilog10() as usize / 2 + (words.next() % 3) as usize;
            let word = (0..syllables).map(|_| words.syllable()).collect();
            words.vocabulary.push(word);
            sum += 1.0 / rank as f64;
            words.cumulative.push(sum);
        }
        words
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn syllable(&mut self) -> String {
        let pick = |from: &[u8], at: u64| char::from(from[at as usize % from.len()]);
        let (first, second, third) = (self.next(), self.next(), self.next());
        [pick(b"bcdfghklmnprstvwz", first), pick(b"aeiou", second), pick(b"lmnrst", third)].iter().collect()
    }

    fn word(&mut self) -> &str {
        let at = self.unit() * self.cumulative.last().copied().unwrap_or(1.0);
        let rank = self.cumulative.partition_point(|sum| *sum < at).min(VOCABULARY - 1);
        &self.vocabulary[rank]
    }

    fn text(&mut self, chars: usize) -> String {
        let mut text = String::with_capacity(chars + 16);
        while text.len() < chars {
            text.push_str(self.word());
            text.push(' ');
        }
        text
    }

    fn document(&mut self, at: usize) -> Change {
        let doc_id = DocId(Uuid::from_u128((at as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)));
        Change::Put(Box::new(IndexDocument {
            host: format!("www{}.example.com", at % 500),
            title: self.text(40),
            headings: self.text(60),
            body: format!("{}{}", self.text(BODY_CHARS), self.phrase(at)),
            language: Some("en".to_owned()),
            ..IndexDocument::new(doc_id, Collection::Web)
        }))
    }

    /// Returns words of medium rarity, as in typical searches: ranks 20 to 20,000, log-uniform.
    fn query(&mut self, length: usize) -> String {
        let ranks: Vec<usize> = (0..length).map(|_| (20.0 * 1000f64.powf(self.unit())) as usize).collect();
        ranks.into_iter().map(|rank| &*self.vocabulary[rank]).collect::<Vec<_>>().join(" ")
    }

    /// Returns the pair of words that ends the body of this document and of some others.
    fn phrase(&self, at: usize) -> String {
        format!("{} {}", self.vocabulary[100 + at % 211], self.vocabulary[400 + at % 307])
    }
}

/// Returns the resident memory of the process, without and with memory-mapped files.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mb = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1e3
    };
    format!("{:>8.1} MB anonymous, {:.1} MB with mapped files", mb("RssAnon:"), mb("VmRSS:"))
}

/// Returns the CPU time used so far. On a shared machine it is more reliable than wall-clock time.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields 14 and 15, in hundredths of a second; the second field may contain spaces and ends with `)`.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn size_of(folder: &std::path::Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() { size_of(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(sum)
}
