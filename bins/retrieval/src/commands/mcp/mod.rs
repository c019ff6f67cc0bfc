//! `retrieval mcp`: one JSON-RPC message per line, in and out. Standard output carries nothing else.

mod backend;
mod input;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use mcp::{Message, RpcError, Server, Toolset, code};
use retrieval_client::types::validation::parse_uuid;
use serde_json::{Map, Value};
use tokio::task::{AbortHandle, JoinSet};

use self::backend::Remote;
use self::input::Line;
use crate::cli::{Common, Mcp, Profile};
use crate::connection;
use crate::failure::Failure;

/// Time to finish pending requests after standard input ends. Clients kill the process soon afterwards.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves requests until standard input ends.
pub async fn run(arguments: &Mcp, common: &Common) -> Result<(), Failure> {
    let client = connection::client(common)?;
    let workspace_id = connection::workspace_id(&arguments.workspace_id, common)?;
    let invalid_id = |id: &String| Failure::Usage(format!("`{id}` is not a UUID: give the organization's id"));
    let workspace_id = workspace_id.map(|id| parse_uuid(&id).ok_or_else(|| invalid_id(&id))).transpose()?;
    let profile = match arguments.profile {
        Profile::Full => mcp::Profile::Full,
        Profile::Search => mcp::Profile::Search,
        Profile::Connector => mcp::Profile::Connector,
    };
    let toolset = match &arguments.tools {
        None => Toolset::new(profile),
        Some(names) => Toolset::only(profile, names).map_err(Failure::Usage)?,
    };
    let mut session = Session {
        server: Arc::new(Server::new(toolset)),
        backend: Arc::new(Remote { client, workspace_id }),
        tasks: JoinSet::new(),
        in_progress: Vec::new(),
    };
    let mut lines = input::lines();
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => session.handle_line(line)?,
                None => break,
            },
            Some(ended) = session.tasks.join_next_with_id() => session.finish(ended)?,
        }
    }
    let rest = async {
        while let Some(ended) = session.tasks.join_next_with_id().await {
            session.finish(ended)?;
        }
        Ok(())
    };
    tokio::time::timeout(DRAIN_TIMEOUT, rest).await.unwrap_or(Ok(()))
}

struct Session {
    server: Arc<Server>,
    backend: Arc<Remote>,
    /// Requests in progress; each returns the message to write.
    tasks: JoinSet<Value>,
    /// Ids of the requests in progress.
    in_progress: Vec<(Value, AbortHandle)>,
}

impl Session {
    fn handle_line(&mut self, line: Line) -> Result<(), Failure> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                let message = format!("message exceeds {} bytes", input::MAX_LINE);
                return write(&RpcError::new(code::INVALID_REQUEST, message).body(None));
            }
            Line::Failed(source) => {
                return Err(Failure::Local { what: "cannot read standard input".to_owned(), source });
            }
        };
        match Message::parse(&line) {
            Ok(Message::Request(request)) => {
                let id = request.id.clone();
                let (server, backend) = (self.server.clone(), self.backend.clone());
                let task = self.tasks.spawn(async move { server.answer(request, &*backend).await.body() });
                self.in_progress.push((id, task));
                Ok(())
            }
            Ok(Message::Notification { method, params }) => {
                if method == "notifications/cancelled" {
                    self.cancel(&params);
                }
                Ok(())
            }
            Ok(Message::Response) => Ok(()),
            Err((id, error)) => write(&error.body(id.as_ref())),
        }
    }

    /// Cancels a request, which then gets no response.
    fn cancel(&mut self, params: &Map<String, Value>) {
        let cancelled = params.get("requestId");
        for (_, task) in self.in_progress.iter().filter(|(id, _)| Some(id) == cancelled) {
            task.abort();
        }
    }

    fn finish(&mut self, ended: Result<(tokio::task::Id, Value), tokio::task::JoinError>) -> Result<(), Failure> {
        let task = ended.as_ref().map_or_else(tokio::task::JoinError::id, |(task, _)| *task);
        let position = self.in_progress.iter().position(|(_, handle)| handle.id() == task);
        let id = position.map(|position| self.in_progress.swap_remove(position).0);
        match ended {
            Ok((_, message)) => write(&message),
            Err(error) if error.is_cancelled() => Ok(()),
            // The panic message is on standard error.
            Err(_) => write(
                &RpcError::new(code::INTERNAL_ERROR, "internal error while processing the request").body(id.as_ref()),
            ),
        }
    }
}

fn write(message: &Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{message}\n").as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
}
