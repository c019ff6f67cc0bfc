use serde_json::Value;
use uuid::Uuid;

/// A complete response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub text: String,
}

impl Reply {
    pub fn new(response: ureq::http::Response<ureq::Body>) -> Self {
        let (head, mut body) = response.into_parts();
        let bytes = body.with_config().limit(1 << 30).read_to_vec().unwrap();
        Self { status: head.status.as_u16(), headers: head.headers, text: String::from_utf8(bytes).unwrap() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }

    /// Asserts success and that body and header have the same request id. Returns the body.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert!(matches!(self.status, 200 | 202), "{self:#?}");
        let body = self.json();
        self.assert_request_id(&body);
        body
    }

    /// Asserts the error envelope and returns its `error` object.
    #[track_caller]
    pub fn error(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{self:#?}");
        let mut body = self.json();
        self.assert_request_id(&body);
        assert_eq!(body["type"], "error", "{body:#}");
        assert_eq!(body["error"]["code"], code, "{body:#}");
        assert!(body["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{body:#}");
        assert!(body.get("access").is_none(), "{body:#}");
        for unknown in ["hint", "retryable"] {
            assert!(body["error"].get(unknown).is_none(), "{body:#}");
        }
        assert!(self.header("retry-after").is_none(), "{self:#?}");
        body["error"].take()
    }

    #[track_caller]
    fn assert_request_id(&self, body: &Value) {
        let id = body["request_id"].as_str().unwrap_or_else(|| panic!("no request_id: {self:#?}"));
        Uuid::parse_str(id).unwrap();
        assert_eq!(self.header("x-request-id"), Some(id), "{self:#?}");
    }
}
