//! Benchmark of vector search in the embedded engine on generated vectors.
//!
//! ```text
//! cargo run --release -p engine-tantivy --example vector_bench [documents] [clusters] [spread]
//! ```

#![expect(clippy::print_stdout, reason = "prints its results")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{Change, DocumentVectors, Filters, IndexDocument, SearchEngine, SemanticRequest};
use engine_tantivy::{TantivyEngine, TantivyOptions};
use model::{Collection, DocId, IndexName};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use uuid::Uuid;

const DIMENSIONS: usize = 384;
const BATCH: usize = 2_000;
const QUERIES: usize = 100;
const LIMIT: usize = 10;
const SPACE: VectorSpace = VectorSpace(1);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let argument = |at: usize| std::env::args().nth(at);
    let documents: usize = argument(1).map_or(Ok(1_000_000), |count| count.parse())?;
    let clusters: u64 = argument(2).map_or(Ok(1_000), |count| count.parse())?;
    let spread: f32 = argument(3).map_or(Ok(0.7), |spread| spread.parse())?;
    let vectors = Arc::new(Vectors { clusters, spread });
    let folder = tempfile::tempdir()?;
    let options = TantivyOptions { writer_idle_timeout: Duration::from_millis(200), ..TantivyOptions::default() };
    let engine = Arc::new(TantivyEngine::open(folder.path(), options)?);
    println!("{documents} vectors of {DIMENSIONS} components, {clusters} clusters, spread {spread}");

    let queries: Vec<QuantizedVector> = (0..QUERIES).map(|at| vectors.at(documents + at)).collect();
    let mut exact: Vec<Vec<(f32, usize)>> = vec![Vec::new(); QUERIES];
    let mut apply_time = Duration::ZERO;
    for start in (0..documents).step_by(BATCH) {
        let numbers = start..documents.min(start + BATCH);
        let batch: Vec<(usize, QuantizedVector)> = numbers.map(|number| (number, vectors.at(number))).collect();
        for (query, nearest) in queries.iter().zip(&mut exact) {
            nearest.extend(batch.iter().map(|(number, vector)| (vector.cosine(query), *number)));
            nearest.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            nearest.truncate(LIMIT);
        }
        let batch = batch.into_iter().map(|(number, vector)| document(number, vector)).collect();
        let begin = Instant::now();
        engine.apply(IndexName::Web, batch).await?;
        apply_time += begin.elapsed();
    }
    println!("import, {BATCH} per commit     {:>8.0} documents/s", documents as f64 / apply_time.as_secs_f64());
    wait_for_merges().await;
    println!("RSS, before any search      {}", memory());
    let begin = Instant::now();
    engine.semantic(&request(queries[0].clone(), None)).await?;
    println!("first search                {:>8.1} ms", begin.elapsed().as_secs_f64() * 1e3);

    let mut times = Vec::new();
    let mut found = 0;
    for round in 0..3 {
        for (query, nearest) in queries.iter().zip(&exact) {
            let begin = Instant::now();
            let hits = engine.semantic(&request(query.clone(), None)).await?;
            times.push(begin.elapsed());
            if round == 0 {
                let is_hit = |number: usize| hits.iter().any(|hit| hit.doc_id == id(number));
                found += nearest.iter().filter(|(_, number)| is_hit(*number)).count();
            }
        }
    }
    report("all documents", &mut times);
    println!("recall@{LIMIT}                   {:>8.4}", found as f64 / (LIMIT * QUERIES) as f64);
    println!("RSS                         {}", memory());
    for (name, label) in
        [("a tenth of the documents", "tenth"), ("a hundredth", "hundredth"), ("a thousandth", "thousandth")]
    {
        let mut times = Vec::new();
        for query in &queries {
            let begin = Instant::now();
            engine.semantic(&request(query.clone(), Some(label))).await?;
            times.push(begin.elapsed());
        }
        report(name, &mut times);
    }

    let begin = Instant::now();
    let clients = (0..8).map(|client| {
        let (engine, queries) = (Arc::clone(&engine), queries.clone());
        tokio::spawn(async move {
            for at in 0..QUERIES {
                let query = queries[(client * 13 + at) % QUERIES].clone();
                engine.semantic(&request(query, None)).await.map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(())
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await??;
    }
    println!("8 clients                   {:>8.0} searches/s", 8.0 * QUERIES as f64 / begin.elapsed().as_secs_f64());

    let done = Arc::new(AtomicBool::new(false));
    let changes = tokio::spawn({
        let (engine, vectors, done) = (Arc::clone(&engine), Arc::clone(&vectors), Arc::clone(&done));
        async move {
            let mut changed = 0;
            while !done.load(Ordering::Relaxed) {
                // Replaces documents all over the index.
                let numbers = (0..200).map(|at| (changed + at) * 7_919 % documents);
                let batch = numbers.map(|number| document(number, vectors.at(number))).collect();
                engine.apply(IndexName::Web, batch).await.map_err(|error| error.to_string())?;
                changed += 200;
            }
            Ok::<_, String>(changed)
        }
    });
    let begin = Instant::now();
    let mut times = Vec::new();
    for query in queries.iter().cycle().take(10 * QUERIES) {
        let begin = Instant::now();
        engine.semantic(&request(query.clone(), None)).await?;
        times.push(begin.elapsed());
    }
    let elapsed = begin.elapsed();
    done.store(true, Ordering::Relaxed);
    let changed = changes.await??;
    report("while documents change", &mut times);
    println!("replaced meanwhile          {:>8.0} documents/s", changed as f64 / elapsed.as_secs_f64());
    println!("RSS, at the end             {}", memory());
    Ok(())
}

fn id(number: usize) -> DocId {
    DocId(Uuid::from_u128((number as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
}

fn document(number: usize, vector: QuantizedVector) -> Change {
    let labels = [(10, "tenth"), (100, "hundredth"), (1_000, "thousandth")];
    let labels = labels.iter().filter(|(divisor, _)| number.is_multiple_of(*divisor));
    Change::Put(Box::new(IndexDocument {
        host: "www.example.com".to_owned(),
        title: format!("document {number}"),
        labels: labels.map(|(_, label)| (*label).to_owned()).collect(),
        vectors: Some(DocumentVectors { space: SPACE, passages: vec![vector] }),
        ..IndexDocument::new(id(number), Collection::Web)
    }))
}

fn request(vector: QuantizedVector, label: Option<&str>) -> SemanticRequest {
    let filters = Filters { labels: label.map(str::to_owned).into_iter().collect(), ..Filters::default() };
    SemanticRequest { collection: Collection::Web, space: SPACE, vector, filters, limit: LIMIT }
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!("{name:<26} p50 {:>7.2} ms  p99 {:>7.2} ms", at(0.5), at(0.99));
}

/// Generator of vectors around random centers.
struct Vectors {
    clusters: u64,
    /// Standard deviation of the distance from a center, relative to the centers' own.
    spread: f32,
}

impl Vectors {
    fn at(&self, number: usize) -> QuantizedVector {
        let mut random = Random(number as u64 ^ 0x5555_5555_5555);
        let mut center = Random((random.next() % self.clusters).wrapping_mul(0xd134_2543_de82_ef95));
        let components: Vec<f32> = (0..DIMENSIONS).map(|_| center.normal() + self.spread * random.normal()).collect();
        QuantizedVector::quantize(&components).unwrap_or_else(|| unreachable!("random components are not all 0"))
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the normalized sum of eight uniform numbers, which is nearly normal.
    fn normal(&mut self) -> f32 {
        let sum: u32 = self.next().to_le_bytes().map(u32::from).iter().sum();
        (sum as f32 - 1_020.0) / 209.0
    }
}

/// Waits until the process has used little CPU time for three seconds: the index merges its segments after an import.
async fn wait_for_merges() {
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        // User and system time, in hundredths of a second.
        fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>()
    };
    let mut before = ticks();
    loop {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let now = ticks();
        if now - before < 10 {
            return;
        }
        before = now;
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
