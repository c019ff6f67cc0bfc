//! An API client of one organization, and uploads to storage.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::Request;
use ureq::{Agent, SendBody};
use uuid::Uuid;

use super::{Reply, until};

/// Deadline of an indexing run: longer than the largest one takes on a loaded machine.
const RUN_DEADLINE: Duration = Duration::from_secs(90);

pub struct Client {
    agent: Agent,
    base: String,
    pub key: Option<String>,
    pub organization: Uuid,
}

impl Client {
    pub fn new(base: &str, key: Option<&str>, organization: Uuid) -> Self {
        Self { agent: agent(), base: base.to_owned(), key: key.map(str::to_owned), organization }
    }

    /// Returns a client of the same server with another credential.
    pub fn with_key(&self, key: Option<&str>) -> Self {
        Self::new(&self.base, key, self.organization)
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], None)
    }

    pub fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, &[], None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[], Some(body.to_string().as_bytes()))
    }

    /// Sends a request. A body is JSON unless `headers` contain a content type.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Reply {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        if body.is_some() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request = request.header("Content-Type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = match body {
            Some(body) => self.agent.run(request.body(body).unwrap()),
            None => self.agent.run(request.body(()).unwrap()),
        };
        Reply::new(sent.unwrap_or_else(|error| panic!("{method} {path}: {error}")))
    }

    /// Sends a `GET` request. Returns the lines of the response as they come, until it ends or is cut.
    pub fn lines(&self, path: &str, headers: &[(&str, &str)]) -> impl Iterator<Item = String> + use<> {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.call().unwrap_or_else(|error| panic!("GET {path}: {error}"));
        BufReader::new(response.into_body().into_reader()).lines().map_while(Result::ok)
    }

    /// Sends a request and disconnects after `pause` without reading the response.
    pub fn disconnect_after(&self, pause: Duration, path: &str, body: &Value) {
        let mut stream = TcpStream::connect(self.base.trim_start_matches("http://")).unwrap();
        let (key, body) = (self.key.as_deref().unwrap_or_default(), body.to_string());
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: {}", body.len());
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
        std::thread::sleep(pause);
    }

    /// Searches with the query and the other fields of `body`.
    pub fn search(&self, query: &str, mut body: Value) -> Reply {
        body["query"] = query.into();
        self.post("/v1/search", &body)
    }

    pub fn search_web(&self, query: &str) -> Value {
        self.search(query, json!({})).ok()
    }

    pub fn search_workspace(&self, query: &str) -> Value {
        self.search(query, json!({ "scope": self.workspace_scope(), "max_results": 50 })).ok()
    }

    pub fn workspace_scope(&self) -> Value {
        json!({ "indexes": ["workspace"], "workspace_id": self.organization })
    }

    pub fn document(&self, body: Value) -> Reply {
        self.post("/v1/document", &body)
    }

    pub fn presign(&self, name: &str, size: usize) -> Reply {
        self.post("/v1/files/presign", &json!({ "filename": name, "size": size }))
    }

    /// Uploads a file and returns its stored name.
    pub fn upload(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let bytes = bytes.as_ref();
        let presigned = self.presign(name, bytes.len()).ok();
        let put = put(presigned["url"].as_str().unwrap(), bytes);
        assert_eq!(put.status, 200, "{put:#?}");
        presigned["name"].as_str().unwrap().to_owned()
    }

    /// Returns the names of the files, in the order of the list.
    pub fn file_names(&self) -> Vec<String> {
        let files = self.get("/v1/files").ok();
        files["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Starts a run and waits until it finishes.
    pub fn index(&self) -> Value {
        self.finish_run(&self.start_run("incremental"))
    }

    pub fn start_run(&self, mode: &str) -> String {
        let reply = self.post("/v1/files/index", &json!({ "mode": mode }));
        assert_eq!(reply.status, 202, "{reply:#?}");
        let body = reply.ok();
        Uuid::parse_str(body["sync_id"].as_str().unwrap()).unwrap();
        body["sync_id"].as_str().unwrap().to_owned()
    }

    pub fn run_status(&self, sync_id: &str) -> Value {
        self.get(&format!("/v1/files/index/{sync_id}")).ok()
    }

    /// Waits until a run finishes and returns its status.
    #[track_caller]
    pub fn finish_run(&self, sync_id: &str) -> Value {
        until("the run finishes", RUN_DEADLINE, || {
            let status = self.run_status(sync_id);
            match status["state"].as_str().unwrap() {
                "completed" | "failed" => Some(status),
                "queued" | "planning" | "running" => {
                    assert!(status["completed_at"].is_null() && status["error"].is_null(), "{status:#}");
                    None
                }
                other => panic!("unknown state `{other}`"),
            }
        })
    }

    /// Returns the URL of the document of a file with an ASCII name.
    pub fn workspace_url(&self, name: &str) -> String {
        format!("workspace://{}/{name}", self.organization)
    }
}

/// Returns an HTTP agent that returns every status and ignores proxy variables.
fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .proxy(None)
        .build()
        .into()
}

/// `PUT`s the bytes to a presigned URL.
pub fn put(url: &str, bytes: &[u8]) -> Reply {
    Reply::new(agent().put(url).send(bytes).unwrap())
}

/// `PUT`s the bytes with chunked encoding, without a declared length.
pub fn put_chunked(url: &str, bytes: &[u8]) -> Reply {
    let mut reader: &[u8] = bytes;
    let reader: &mut dyn Read = &mut reader;
    Reply::new(agent().put(url).send(SendBody::from_reader(reader)).unwrap())
}
