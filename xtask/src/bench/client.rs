//! An HTTP client with one kept-alive connection, blocking, so that its own share of a latency is small and even.

use anyhow::{Context, bail};
use serde_json::Value;
use std::time::Duration;
use ureq::Agent;

/// No answer takes this long, except that of a server that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// One client: one connection, which is opened with the first request and kept.
pub struct Client {
    agent: Agent,
    base: String,
    authorization: String,
}

impl Client {
    /// A client of the API at `base`, with an API key.
    pub fn new(base: &str, key: &str) -> Self {
        // No limit on the whole call: with one, ureq looks the host up in a thread of its own for each request.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .no_delay(true)
            .proxy(None)
            .max_redirects(0)
            .timeout_recv_response(Some(PATIENCE))
            .timeout_recv_body(Some(PATIENCE));
        Self { agent: config.build().new_agent(), base: base.to_owned(), authorization: format!("Bearer {key}") }
    }

    /// The body of the answer to a `GET`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one with another status than 200.
    pub fn get(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let request = self.agent.get(format!("{}{path}", self.base)).header("authorization", &self.authorization);
        body(path, request.call())
    }

    /// The status of the answer to a `GET`, whose body is read and dropped.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub fn status(&self, path: &str) -> anyhow::Result<u16> {
        let request = self.agent.get(format!("{}{path}", self.base)).header("authorization", &self.authorization);
        let mut answer = request.call().with_context(|| format!("no answer from `{path}`"))?;
        answer.body_mut().read_to_vec().with_context(|| format!("a broken answer from `{path}`"))?;
        Ok(answer.status().as_u16())
    }

    /// The body of the answer to a `DELETE`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one with a status that is not a success.
    pub fn delete(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let request = self.agent.delete(format!("{}{path}", self.base)).header("authorization", &self.authorization);
        body(path, request.call())
    }

    /// The body of the answer to a `POST` of JSON.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one with a status that is not a success.
    pub fn post(&self, path: &str, json: &[u8]) -> anyhow::Result<Vec<u8>> {
        let request = self.agent.post(format!("{}{path}", self.base));
        let request = request.header("authorization", &self.authorization).header("content-type", "application/json");
        body(path, request.send(json))
    }

    /// As [`Client::post`], from JSON to JSON.
    ///
    /// # Errors
    ///
    /// As those, and when the answer is no JSON.
    pub fn call(&self, path: &str, request: &Value) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.post(path, &serde_json::to_vec(request)?)?)?)
    }

    /// Uploads bytes to a presigned address; the API key does not go there.
    ///
    /// # Errors
    ///
    /// When there is no answer, or one with a status that is not a success.
    pub fn put(&self, url: &str, bytes: &[u8]) -> anyhow::Result<()> {
        body(url, self.agent.put(url).send(bytes)).map(drop)
    }
}

fn body(path: &str, answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> anyhow::Result<Vec<u8>> {
    let mut answer = answer.with_context(|| format!("no answer from `{path}`"))?;
    let body = answer.body_mut().read_to_vec().with_context(|| format!("a broken answer from `{path}`"))?;
    if !answer.status().is_success() {
        bail!("`{path}` answered {}: {}", answer.status(), String::from_utf8_lossy(&body));
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::Client;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;

    /// Answers `count` requests on ONE connection, with the body sent or the status 503 for an empty one.
    fn echo(count: usize) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            for _ in 0..count {
                let mut length = 0;
                for line in reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
                    let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
                    if name.eq_ignore_ascii_case("content-length") {
                        length = value.parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let status = if body.is_empty() { 503 } else { 200 };
                write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n").unwrap();
                stream.write_all(&body).unwrap();
            }
        });
        base
    }

    #[test]
    fn one_connection_serves_all_requests_and_errors_say_the_status() {
        let client = Client::new(&echo(4), "key");
        assert_eq!(client.post("/a", b"one").unwrap(), b"one");
        assert_eq!(client.call("/a", &serde_json::json!({"b": 1})).unwrap()["b"], 1);
        assert!(format!("{:#}", client.get("/c").unwrap_err()).contains("503"));
        assert_eq!(client.post("/a", b"two").unwrap(), b"two");
    }
}
