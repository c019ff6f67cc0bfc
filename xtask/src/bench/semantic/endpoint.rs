//! Embeddings endpoint on loopback, in OpenAI's format.

use super::vectors::Vectors;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Endpoint that is served until the process ends.
pub struct Endpoint {
    base: String,
}

impl Endpoint {
    /// Starts the endpoint.
    ///
    /// # Errors
    ///
    /// Returns an error if no port is available.
    pub fn start(vectors: Arc<dyn Vectors>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let base = format!("http://{}/v1", listener.local_addr()?);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let vectors = Arc::clone(&vectors);
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(&stream);
                    while answer(&mut reader, &stream, vectors.as_ref()).is_some() {}
                });
            }
        });
        Ok(Self { base })
    }

    pub fn base(&self) -> &str {
        &self.base
    }
}

/// Answers one request on a kept-alive connection. Returns `None` when the client disconnects.
fn answer(reader: &mut impl BufRead, mut stream: &TcpStream, vectors: &dyn Vectors) -> Option<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.trim().parse().ok()?,
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (status, answer) = match response(&body, vectors) {
        Ok(answer) => ("200 OK", answer),
        Err(error) => ("500 Internal Server Error", json!({"error": {"message": format!("{error:#}")}})),
    };
    let answer = answer.to_string();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", answer.len());
    stream.set_nodelay(true).ok()?;
    stream.write_all(&[head.as_bytes(), answer.as_bytes()].concat()).ok()
}

fn response(body: &[u8], vectors: &dyn Vectors) -> anyhow::Result<Value> {
    let request: Value = serde_json::from_slice(body)?;
    let texts: Vec<String> = match &request["input"] {
        Value::String(text) => vec![text.clone()],
        list => serde_json::from_value(list.clone())?,
    };
    let data: Vec<Value> = vectors
        .embed(&texts)?
        .into_iter()
        .enumerate()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    Ok(json!({"object": "list", "data": data, "model": request["model"]}))
}
