//! Blocking HTTP client with one kept-alive connection, so that its share of a latency is small and constant.

use anyhow::{Context, bail};
use serde_json::Value;
use std::time::Duration;
use ureq::Agent;

/// Timeout that only a hanging server reaches.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Status of requests that would wait too long.
const BUSY: u16 = 503;

/// Client with one connection, opened by the first request.
pub struct Client {
    agent: Agent,
    base: String,
    authorization: String,
}

impl Client {
    /// Creates a client of the API at `base` with an API key.
    pub fn new(base: &str, key: &str) -> Self {
        // No timeout per call: with one, ureq resolves the host in a new thread for each request.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .no_delay(true)
            .proxy(None)
            .max_redirects(0)
            .timeout_recv_response(Some(TIMEOUT))
            .timeout_recv_body(Some(TIMEOUT));
        Self { agent: config.build().new_agent(), base: base.to_owned(), authorization: format!("Bearer {key}") }
    }

    /// Returns the body of a `GET` response.
    ///
    /// # Errors
    ///
    /// Returns an error without a response, or for a status other than 200.
    pub fn get(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let request = self.agent.get(format!("{}{path}", self.base)).header("authorization", &self.authorization);
        body(path, request.call())
    }

    /// Returns the status of a `GET` response and discards the body.
    ///
    /// # Errors
    ///
    /// Returns an error without a response.
    pub fn status(&self, path: &str) -> anyhow::Result<u16> {
        let request = self.agent.get(format!("{}{path}", self.base)).header("authorization", &self.authorization);
        let mut answer = request.call().with_context(|| format!("no response from `{path}`"))?;
        answer.body_mut().read_to_vec().with_context(|| format!("incomplete response from `{path}`"))?;
        Ok(answer.status().as_u16())
    }

    /// Returns the body of a `DELETE` response.
    ///
    /// # Errors
    ///
    /// Returns an error without a response, or for a status that is not a success.
    pub fn delete(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let request = self.agent.delete(format!("{}{path}", self.base)).header("authorization", &self.authorization);
        body(path, request.call())
    }

    /// Returns the body of a JSON `POST` response.
    ///
    /// # Errors
    ///
    /// Returns an error without a response, or for a status that is not a success.
    pub fn post(&self, path: &str, json: &[u8]) -> anyhow::Result<Vec<u8>> {
        let request = self.agent.post(format!("{}{path}", self.base));
        let request = request.header("authorization", &self.authorization).header("content-type", "application/json");
        body(path, request.send(json))
    }

    /// Returns the body of a JSON `POST` response; `None` if the server refuses the request because it is busy.
    ///
    /// # Errors
    ///
    /// Returns an error without a response, or for any other status that is not a success.
    pub fn post_or_refusal(&self, path: &str, json: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        let request = self.agent.post(format!("{}{path}", self.base));
        let request = request.header("authorization", &self.authorization).header("content-type", "application/json");
        let mut answer = request.send(json).with_context(|| format!("no response from `{path}`"))?;
        if answer.status().as_u16() == BUSY {
            answer.body_mut().read_to_vec().with_context(|| format!("incomplete response from `{path}`"))?;
            return Ok(None);
        }
        body(path, Ok(answer)).map(Some)
    }

    /// Sends a JSON `POST` and parses the JSON response.
    ///
    /// # Errors
    ///
    /// Returns an error like [`Client::post`], or if the response is not JSON.
    pub fn call(&self, path: &str, request: &Value) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.post(path, &serde_json::to_vec(request)?)?)?)
    }

    /// Uploads bytes to a presigned URL, without the API key.
    ///
    /// # Errors
    ///
    /// Returns an error without a response, or for a status that is not a success.
    pub fn put(&self, url: &str, bytes: &[u8]) -> anyhow::Result<()> {
        body(url, self.agent.put(url).send(bytes)).map(drop)
    }
}

fn body(path: &str, answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> anyhow::Result<Vec<u8>> {
    let mut answer = answer.with_context(|| format!("no response from `{path}`"))?;
    let body = answer.body_mut().read_to_vec().with_context(|| format!("incomplete response from `{path}`"))?;
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

    /// Answers `count` requests on ONE connection: echoes the body, or returns 503 for an empty one.
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
    fn one_connection_serves_all_requests_and_errors_have_the_status() {
        let client = Client::new(&echo(6), "key");
        assert_eq!(client.post("/a", b"one").unwrap(), b"one");
        assert_eq!(client.call("/a", &serde_json::json!({"b": 1})).unwrap()["b"], 1);
        assert!(format!("{:#}", client.get("/c").unwrap_err()).contains("503"));
        assert_eq!(client.post_or_refusal("/a", b"").unwrap(), None);
        assert_eq!(client.post_or_refusal("/a", b"x").unwrap(), Some(b"x".to_vec()));
        assert_eq!(client.post("/a", b"two").unwrap(), b"two");
    }
}
