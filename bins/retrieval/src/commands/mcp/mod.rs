//! `retrieval mcp`: one JSON-RPC message a line, in and out. Standard output holds nothing else.

mod backend;
mod input;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use mcp::{Message, RpcError, Server, code};
use retrieval_client::types::validation::parse_uuid;
use serde_json::{Map, Value};
use tokio::task::{AbortHandle, JoinSet};

use self::backend::Remote;
use self::input::Line;
use crate::cli::{Common, Mcp, Profile};
use crate::connection;
use crate::failure::Failure;

/// What is still under way when standard input ends has so long to be answered. Clients wait little longer before they
/// kill.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Serves until standard input ends.
pub async fn run(arguments: &Mcp, common: &Common) -> Result<(), Failure> {
    let client = connection::client(common)?;
    let workspace_id = connection::workspace_id(&arguments.workspace_id, common)?;
    let not_an_id = |id: &String| Failure::Usage(format!("the organization `{id}` is no UUID"));
    let workspace_id = workspace_id.map(|id| parse_uuid(&id).ok_or_else(|| not_an_id(&id))).transpose()?;
    let profile = match arguments.profile {
        Profile::Full => mcp::Profile::Full,
        Profile::Connector => mcp::Profile::Connector,
    };
    let mut session = Session {
        server: Arc::new(Server::new(profile)),
        backend: Arc::new(Remote { client, workspace_id }),
        tasks: JoinSet::new(),
        under_way: Vec::new(),
    };
    let mut lines = input::lines();
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => session.take(line)?,
                None => break,
            },
            Some(ended) = session.tasks.join_next_with_id() => session.end(ended)?,
        }
    }
    let rest = async {
        while let Some(ended) = session.tasks.join_next_with_id().await {
            session.end(ended)?;
        }
        Ok(())
    };
    tokio::time::timeout(LAST_ANSWERS, rest).await.unwrap_or(Ok(()))
}

struct Session {
    server: Arc<Server>,
    backend: Arc<Remote>,
    /// Each gives the message to write.
    tasks: JoinSet<Value>,
    /// The ids of the requests that are being answered.
    under_way: Vec<(Value, AbortHandle)>,
}

impl Session {
    fn take(&mut self, line: Line) -> Result<(), Failure> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                let message = format!("a message has at most {} bytes", input::MAX_LINE);
                return write(&RpcError::new(code::INVALID_REQUEST, message).body(None));
            }
            Line::Broken(source) => {
                return Err(Failure::Local { what: "cannot read standard input".to_owned(), source });
            }
        };
        match Message::parse(&line) {
            Ok(Message::Request(request)) => {
                let id = request.id.clone();
                let (server, backend) = (self.server.clone(), self.backend.clone());
                let task = self.tasks.spawn(async move { server.answer(request, &*backend).await.body() });
                self.under_way.push((id, task));
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

    /// Nothing more is said of a request that was called off.
    fn cancel(&mut self, params: &Map<String, Value>) {
        let called_off = params.get("requestId");
        for (_, task) in self.under_way.iter().filter(|(id, _)| Some(id) == called_off) {
            task.abort();
        }
    }

    fn end(&mut self, ended: Result<(tokio::task::Id, Value), tokio::task::JoinError>) -> Result<(), Failure> {
        let task = ended.as_ref().map_or_else(tokio::task::JoinError::id, |(task, _)| *task);
        let position = self.under_way.iter().position(|(_, handle)| handle.id() == task);
        let id = position.map(|position| self.under_way.swap_remove(position).0);
        match ended {
            Ok((_, message)) => write(&message),
            Err(error) if error.is_cancelled() => Ok(()),
            // The message of the panic is on standard error.
            Err(_) => {
                write(&RpcError::new(code::INTERNAL_ERROR, "the request could not be answered").body(id.as_ref()))
            }
        }
    }
}

fn write(message: &Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{message}\n").as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
}
