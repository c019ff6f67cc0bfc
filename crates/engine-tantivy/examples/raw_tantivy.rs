//! tantivy with its defaults behind a minimal HTTP server, for comparison by `cargo xtask bench engines`.
//!
//! ```text
//! cargo run --release -p engine-tantivy --example raw_tantivy FOLDER PORT
//! ```
//!
//! `POST /import` takes JSON lines with `id`, `title` and `text`, `POST /commit` makes them visible, and `POST /search` takes a
//! query and returns the ten best documents.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, STRING, Schema, TEXT};
use tantivy::{Document, Index, IndexReader, IndexWriter, TantivyDocument};

const RESULTS: usize = 10;
const WRITER_BYTES: usize = 200 << 20;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

struct Service {
    schema: Schema,
    parser: QueryParser,
    reader: IndexReader,
    writer: Mutex<IndexWriter>,
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err("usage: raw_tantivy FOLDER PORT".into());
    };
    let mut schema = Schema::builder();
    schema.add_text_field("id", STRING | STORED);
    let fields = ["title", "text"].map(|name| schema.add_text_field(name, TEXT | STORED));
    let schema = schema.build();
    let index = Index::create_in_dir(folder, schema.clone())?;
    let service = Arc::new(Service {
        schema,
        parser: QueryParser::for_index(&index, fields.to_vec()),
        reader: index.reader()?,
        writer: Mutex::new(index.writer(WRITER_BYTES)?),
    });
    for stream in TcpListener::bind(("127.0.0.1", port.parse()?))?.incoming() {
        let (stream, service) = (stream?, Arc::clone(&service));
        // A client that leaves ends its thread.
        std::thread::spawn(move || service.serve(&stream));
    }
    Ok(())
}

impl Service {
    /// Answers the requests of a connection.
    fn serve(&self, mut stream: &TcpStream) -> Outcome<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some((path, body)) = read_request(&mut reader)? {
            let (status, answer) = match self.answer(&path, &body) {
                Ok(answer) => ("200 OK", answer),
                Err(error) => ("500 Internal Server Error", error.to_string()),
            };
            let length = answer.len();
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
            stream.write_all(format!("{head}{answer}").as_bytes())?;
        }
        Ok(())
    }

    fn answer(&self, path: &str, body: &str) -> Outcome<String> {
        match path {
            "/import" => {
                let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
                for line in body.lines() {
                    writer.add_document(TantivyDocument::parse_json(&self.schema, line)?)?;
                }
                Ok("{}".to_owned())
            }
            "/commit" => {
                self.writer.lock().unwrap_or_else(PoisonError::into_inner).commit()?;
                self.reader.reload()?;
                Ok("{}".to_owned())
            }
            "/search" => self.search(body),
            _ => Err(format!("no such path: `{path}`").into()),
        }
    }

    fn search(&self, query: &str) -> Outcome<String> {
        // Questions with characters of the query language, such as an unpaired quote, are read as far as possible.
        let query = self.parser.parse_query(query).unwrap_or_else(|_| self.parser.parse_query_lenient(query).0);
        let searcher = self.reader.searcher();
        // No second collector, such as a count: with one, tantivy scores every match instead of skipping blocks.
        let best = searcher.search(&query, &TopDocs::with_limit(RESULTS).order_by_score())?;
        let mut hits = Vec::with_capacity(best.len());
        for (_, address) in best {
            hits.push(searcher.doc::<TantivyDocument>(address)?.to_json(&self.schema));
        }
        Ok(format!("{{\"hits\":[{}]}}", hits.join(",")))
    }
}

/// Reads a request. Returns its path and body; `None` at the end of the connection.
fn read_request(reader: &mut impl BufRead) -> Outcome<Option<(String, String)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((path, String::from_utf8(body)?)))
}
