//! Search provider on loopback over the documents of a collection, in the format of SearXNG. It also serves their pages.

use super::collection::Document;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Results of one search, as engines return them.
const RESULTS: usize = 20;
/// Length of a snippet in bytes.
const SNIPPET: usize = 200;
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Provider that is served until the process ends.
pub struct Provider {
    base: String,
}

impl Provider {
    /// Starts the provider.
    ///
    /// # Errors
    ///
    /// Returns an error if no port is available.
    pub fn start(documents: &[&Document]) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let base = format!("http://{}", listener.local_addr()?);
        let ranker = Arc::new(Ranker::new(base.clone(), documents));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let ranker = Arc::clone(&ranker);
                std::thread::spawn(move || while answer(&stream, &ranker).is_some() {});
            }
        });
        Ok(Self { base })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the URL of a document, which need not be the provider's own.
    pub fn url(&self, id: &str) -> String {
        url(&self.base, id)
    }
}

fn url(base: &str, id: &str) -> String {
    format!("{base}/page/{id}")
}

/// BM25 over titles and texts.
struct Ranker {
    base: String,
    documents: Vec<Document>,
    /// Frequency in each document that contains the word.
    postings: HashMap<String, HashMap<usize, f64>>,
    lengths: Vec<f64>,
}

impl Ranker {
    fn new(base: String, documents: &[&Document]) -> Self {
        let mut postings: HashMap<String, HashMap<usize, f64>> = HashMap::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for (number, document) in documents.iter().enumerate() {
            let words: Vec<String> = words(&document.title).chain(words(&document.text)).collect();
            lengths.push(words.len() as f64);
            for word in words {
                *postings.entry(word).or_default().entry(number).or_default() += 1.0;
            }
        }
        let copied = |document: &&Document| Document {
            id: document.id.clone(),
            title: document.title.clone(),
            text: document.text.clone(),
        };
        Self { base, documents: documents.iter().map(copied).collect(), postings, lengths }
    }

    /// Returns an answer of SearXNG.
    fn search(&self, query: &str) -> Value {
        let query: HashSet<String> = words(query).collect();
        let mean = self.lengths.iter().sum::<f64>() / self.lengths.len().max(1) as f64;
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in &query {
            for (number, frequency) in self.postings.get(word).into_iter().flatten() {
                let norm = K1 * (1.0 - B + B * self.lengths[*number] / mean);
                *scores.entry(*number).or_default() += self.rarity(word) * frequency * (K1 + 1.0) / (frequency + norm);
            }
        }
        let mut best: Vec<(usize, f64)> = scores.into_iter().collect();
        best.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let results = best.iter().take(RESULTS).map(|(number, score)| {
            let document = &self.documents[*number];
            json!({
                "url": url(&self.base, &document.id), "title": document.title, "content": self.snippet(&document.text, &query),
                "publishedDate": null, "engine": "collection", "score": score,
            })
        });
        json!({"results": results.collect::<Vec<_>>(), "unresponsive_engines": []})
    }

    fn rarity(&self, word: &str) -> f64 {
        let holding = self.postings.get(word).map_or(0.0, |documents| documents.len() as f64);
        (1.0 + (self.documents.len() as f64 - holding + 0.5) / (holding + 0.5)).ln()
    }

    /// Returns the part of a text with the most and rarest words of the query.
    fn snippet<'a>(&self, text: &'a str, query: &HashSet<String>) -> &'a str {
        let part = |start: usize| {
            let rest = &text[start..];
            &rest[..rest.floor_char_boundary(SNIPPET)]
        };
        let value = |part: &str| {
            let found: HashSet<String> = words(part).filter(|word| query.contains(word)).collect();
            found.iter().map(|word| self.rarity(word)).sum::<f64>()
        };
        let starts = std::iter::once(0).chain(text.match_indices(' ').map(|(at, _)| at + 1));
        let mut best = (0.0, part(0));
        for part in starts.map(part) {
            let value = value(part);
            if value > best.0 {
                best = (value, part);
            }
        }
        best.1
    }

    fn page(&self, id: &str) -> Option<String> {
        let document = self.documents.iter().find(|document| document.id == id)?;
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        let (title, text) = (escaped(&document.title), escaped(&document.text));
        Some(format!(
            "<!doctype html><html lang=en><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>"
        ))
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// Answers one request on a kept-alive connection. Returns `None` when the client disconnects.
fn answer(mut stream: &TcpStream, ranker: &Ranker) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let target = lines.next()?.split(' ').nth(1)?.to_owned();
    lines.find(String::is_empty)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (status, kind, body) = if path == "/search" {
        let text = query.split('&').find_map(|pair| pair.strip_prefix("q=")).unwrap_or_default();
        ("200 OK", "application/json", ranker.search(&decoded(text)).to_string())
    } else {
        match path.strip_prefix("/page/").and_then(|id| ranker.page(id)) {
            Some(page) => ("200 OK", "text/html; charset=utf-8", page),
            None => ("404 Not Found", "text/plain", String::new()),
        }
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.set_nodelay(true).ok()?;
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).ok()
}

/// Returns the text of a form value. Other characters than words only separate them.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap_or_default(), rest.next().unwrap_or_default()];
                let digits = std::str::from_utf8(&digits).unwrap_or_default().to_owned();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b' '));
            }
            b'+' => bytes.push(b' '),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::*;

    fn document(id: &str, text: &str) -> Document {
        Document { id: id.to_owned(), title: String::new(), text: text.to_owned() }
    }

    #[test]
    fn best_document_is_first_with_its_best_part() {
        let long = format!("{}the spring tides {}", "other words ".repeat(40), "and more ".repeat(40));
        let documents = [document("a", "tides alone"), document("b", &long), document("c", "nothing")];
        let ranker = Ranker::new("http://h".to_owned(), &documents.iter().collect::<Vec<_>>());
        let answer = ranker.search("spring tides");
        assert_eq!(answer["results"].as_array().unwrap().len(), 2);
        let best = answer["results"].as_array().unwrap().iter().find(|hit| hit["url"] == "http://h/page/b").unwrap();
        assert!(best["content"].as_str().unwrap().contains("spring tides"));
        assert_eq!(decoded("spring+tides%3F%C3%A9"), "spring tides?é");
    }
}
