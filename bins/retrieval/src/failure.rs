//! Errors with their exit status and message.

use std::io::{self, IsTerminal, Write};

use retrieval_client::{Error, NoResponse};
use serde_json::{Value, json};

use crate::advice::next_step;
use crate::key_source::KeySource;
use crate::terminal::text::{sanitize, sanitize_json};

/// Section on exit statuses for `--help` and the manual page.
pub const EXIT_STATUSES: &str = "\
Exit status:
    0  success
    1  local error: file, folder
    2  invalid arguments or settings, or request rejected as invalid
       (400, 413, 415)
    3  not allowed: missing or invalid key, missing scope, no balance, quota
       used up, readable settings file (401, 402, 403, 507)
    4  not found (404), or document without content
    5  temporary: rate limit, service unavailable, no connection, timeout
    6  service error or invalid response
    7  partial: files not uploaded or not readable, some documents not read,
       or a run without success: indexing failed, research failed or cancelled
  130  interrupted";

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Client(#[from] Error),
    /// A failed request whose next step depends on the command.
    #[error("{0}")]
    Advised(Error, Box<Advice>),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    NotAllowed(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Partial(String),
    #[error("{0}")]
    Interrupted(String),
    #[error("{what}")]
    Local { what: String, source: io::Error },
    #[error("cannot write the output")]
    Output(#[source] io::Error),
}

/// Next step after a failed request.
#[derive(Debug)]
pub struct Advice {
    next: String,
    /// Run that continues.
    research_id: Option<String>,
}

impl Failure {
    /// Returns the failure of a request that creates something. If its answer was lost, `list` is the command that shows whether it
    /// was executed.
    pub fn of_creation(error: Error, list: &str) -> Self {
        let is_lost = matches!(
            error,
            Error::Timeout { .. }
                | Error::Transport { reason: NoResponse::Broken(_), .. }
                | Error::Status { status: 500..=502 | 504.., .. }
        );
        if !is_lost {
            return Failure::Client(error);
        }
        let next = format!("it may have been executed: see `{list}`");
        Failure::Advised(error, Box::new(Advice { next, research_id: None }))
    }

    /// Returns the failure to follow a run. Unless there is no such run, it continues.
    pub fn of_following(error: Error, research_id: &str) -> Self {
        let is_unknown = match &error {
            Error::Setting(_) => true,
            _ => error.api().is_some_and(|api| matches!(api.status, 400 | 404)),
        };
        if is_unknown {
            return Failure::Client(error);
        }
        let next = format!("the run continues: `retrieval research --follow {research_id}`");
        Failure::Advised(error, Box::new(Advice { next, research_id: Some(research_id.to_owned()) }))
    }

    /// Returns the error of a failed request.
    fn of_request(&self) -> Option<&Error> {
        match self {
            Failure::Client(error) | Failure::Advised(error, _) => Some(error),
            _ => None,
        }
    }

    pub fn exit(&self) -> u8 {
        match self {
            Failure::Client(error) | Failure::Advised(error, _) => client_exit_status(error),
            Failure::Usage(_) => 2,
            Failure::NotAllowed(_) => 3,
            Failure::NotFound(_) => 4,
            Failure::Partial(_) => 7,
            Failure::Interrupted(_) => 130,
            Failure::Local { .. } | Failure::Output(_) => 1,
        }
    }

    /// Returns `{"error": {"code", "message", "exit_status", ...}}` with status and details of service errors.
    pub fn json(&self) -> Value {
        let mut body = json!({ "code": self.code(), "message": self.message(), "exit_status": self.exit() });
        if let Some(api) = self.of_request().and_then(Error::api) {
            body["message"] = json!(api.message);
            body["status"] = json!(api.status);
            body["request_id"] = json!(api.request_id);
            if !api.details.is_empty() {
                body["details"] = json!(api.details);
            }
        }
        if let Failure::Advised(_, advice) = self
            && let Some(research_id) = &advice.research_id
        {
            body["details"]["research_id"] = json!(research_id);
        }
        json!({ "error": body })
    }

    /// Writes the error to standard error as JSON, sanitized if that is a terminal.
    pub fn report_json(&self) {
        let json = self.json().to_string();
        let shown = if io::stderr().is_terminal() { sanitize_json(&json) } else { json };
        let _ = writeln!(io::stderr(), "{shown}");
    }

    /// Writes the error to standard error. Text from a server is sanitized for the terminal.
    pub fn report(&self, key: KeySource) {
        let mut message = self.message();
        if self.of_request().and_then(Error::api).is_some_and(|api| api.status == 401) {
            message.push_str("; ");
            message.push_str(&key.after_refusal());
        }
        let _ = writeln!(io::stderr(), "error: {}", sanitize(&message));
    }

    /// Returns the message with its causes and the next step.
    pub fn message(&self) -> String {
        let mut message = match self.of_request() {
            // Their messages have the cause in plain words.
            Some(error @ (Error::Transport { .. } | Error::StorageTransport { .. })) => error.to_string(),
            Some(error) => error_causes::describe(error),
            None => error_causes::describe(self),
        };
        if let Some(api) = self.of_request().and_then(Error::api) {
            message.push_str(&format!(", request {}", api.request_id));
            if let Some(field) = api.details.get("field").and_then(Value::as_str)
                && !message.contains(field)
            {
                message.push_str(&format!(", field `{field}`"));
            }
        }
        let next = match self {
            Failure::Client(error) => next_step(error),
            Failure::Advised(_, advice) => advice.next.clone(),
            _ => String::new(),
        };
        message.push_str(if next.is_empty() { "" } else { "; " });
        message.push_str(&next);
        message
    }

    /// Returns a stable code for programs.
    pub fn code(&self) -> &str {
        match self {
            Failure::Client(error) | Failure::Advised(error, _) => client_code(error),
            Failure::Usage(_) => "usage",
            Failure::Local { .. } => "local",
            Failure::NotAllowed(_) => "not_allowed",
            Failure::NotFound(_) => "not_found",
            Failure::Partial(_) => "partial",
            Failure::Interrupted(_) => "interrupted",
            Failure::Output(_) => "output",
        }
    }
}

fn client_code(error: &Error) -> &str {
    match error {
        Error::Api(api) => &api.code,
        Error::Timeout { .. } | Error::StorageTimeout { .. } => "timeout",
        Error::Transport { .. } | Error::StorageTransport { .. } => "no_connection",
        Error::Setting(_) => "usage",
        Error::File { .. } | Error::FileChanged { .. } | Error::Write { .. } => "local",
        Error::StaleCapture { .. } => "stale_range",
        Error::Storage { .. } => "storage_refused",
        _ => "bad_answer",
    }
}

fn client_exit_status(error: &Error) -> u8 {
    match error {
        Error::Api(api) => match api.status {
            401..=403 | 507 => 3,
            404 => 4,
            429 | 502..=504 => 5,
            500.. => 6,
            _ => 2,
        },
        Error::Status { status: 429 | 502..=504, .. } => 5,
        Error::Storage { status, .. } if *status == 429 || *status >= 500 => 5,
        Error::Transport { .. }
        | Error::StorageTransport { .. }
        | Error::StorageTimeout { .. }
        | Error::Timeout { .. }
        | Error::StaleCapture { .. } => 5,
        Error::File { .. } | Error::FileChanged { .. } | Error::Write { .. } => 1,
        Error::Setting(_) => 2,
        _ => 6,
    }
}
