//! One worker process, seen from the pool.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use super::options::Input;
use super::protocol::{self, Reply, Task, broken};
use super::{fate, spawner::Spawner};
use crate::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted};

/// How much of what a worker says to nobody is kept, in bytes: its last words.
const LAST_WORDS: usize = 4_096;
/// How long a worker that closed its pipes may take to be gone.
const EXIT_WAIT: Duration = Duration::from_secs(2);

pub(super) struct Worker {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    last_words: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    /// Documents read so far.
    pub files: u32,
    pub idle_since: Instant,
}

/// How a document's reading went, for the pool to decide what becomes of the worker.
pub(super) enum Outcome {
    /// The worker answered and can go on.
    Answered(Result<Extracted, ExtractError>),
    /// The worker is gone or not to be trusted any more.
    Lost(ExtractError),
    /// The input could not be read; the worker was left in the middle of it.
    NoInput(ExtractError),
}

impl Worker {
    pub(super) async fn start(spawner: &Spawner) -> Result<Self, ExtractError> {
        let mut child = spawner.spawn().await?;
        let (Some(stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(broken("the worker has no pipes"));
        };
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&last_words);
        let listener = tokio::spawn(async move {
            let mut buffer = [0; 1024];
            while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
                let said = String::from_utf8_lossy(&buffer[..read]);
                tracing::debug!(worker = said.trim_end(), "extraction worker");
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                heard.extend_from_slice(&buffer[..read]);
                let surplus = heard.len().saturating_sub(LAST_WORDS);
                heard.drain(..surplus);
            }
        });
        Ok(Self { child, stdin, stdout, last_words, listener, files: 0, idle_since: Instant::now() })
    }

    /// Has one document read, within the given time.
    pub(super) async fn read(
        &mut self,
        request: &ExtractRequest,
        input: &Input,
        wall: Duration,
        max_output_bytes: usize,
    ) -> Outcome {
        self.files += 1;
        match tokio::time::timeout(wall, self.exchange(request, input, max_output_bytes)).await {
            Ok(Outcome::Lost(error)) => Outcome::Lost(self.post_mortem(error).await),
            Ok(outcome) => outcome,
            Err(_) => {
                let message = format!("over {} seconds", wall.as_secs_f64());
                Outcome::Lost(ExtractError::new(ExtractErrorKind::TimedOut, message))
            }
        }
    }

    async fn exchange(&mut self, request: &ExtractRequest, input: &Input, max_output_bytes: usize) -> Outcome {
        match self.send(request, input).await {
            Ok(()) => {}
            Err(Sending::Input(error)) => return Outcome::NoInput(error),
            // A worker that refuses an input says why and ends: the answer may be there already.
            Err(Sending::Pipe) => {}
        }
        match self.receive(max_output_bytes).await {
            Ok(answer) => Outcome::Answered(answer),
            Err(error) => Outcome::Lost(error),
        }
    }

    async fn send(&mut self, request: &ExtractRequest, input: &Input) -> Result<(), Sending> {
        match input {
            Input::Bytes(bytes) => {
                self.send_head(request, bytes.len() as u64).await?;
                self.stdin.write_all(bytes).await.map_err(|_| Sending::Pipe)?;
            }
            Input::File(path) => {
                let unreadable = |error: std::io::Error| {
                    let message = format!("the input file cannot be read: {error}");
                    Sending::Input(ExtractError::new(ExtractErrorKind::Crashed, message))
                };
                let mut file = tokio::fs::File::open(path).await.map_err(unreadable)?;
                let bytes = file.metadata().await.map_err(unreadable)?.len();
                self.send_head(request, bytes).await?;
                let mut left = bytes;
                let mut buffer = vec![0; 256 * 1024];
                while left > 0 {
                    let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    let read = file.read(&mut buffer[..most]).await.map_err(unreadable)?;
                    if read == 0 {
                        return Err(unreadable(std::io::ErrorKind::UnexpectedEof.into()));
                    }
                    self.stdin.write_all(&buffer[..read]).await.map_err(|_| Sending::Pipe)?;
                    left -= read as u64;
                }
            }
        }
        self.stdin.flush().await.map_err(|_| Sending::Pipe)
    }

    async fn send_head(&mut self, request: &ExtractRequest, bytes: u64) -> Result<(), Sending> {
        let head = protocol::head(&Task { request: request.clone(), bytes }).map_err(Sending::Input)?;
        self.stdin.write_all(&head).await.map_err(|_| Sending::Pipe)
    }

    /// The answer; an error for whatever a worker that does as it should would not say.
    async fn receive(&mut self, max_output_bytes: usize) -> Result<Result<Extracted, ExtractError>, ExtractError> {
        let cut = |error: std::io::Error| broken(format!("no answer: {error}"));
        let length = self.stdout.read_u32_le().await.map_err(cut)? as usize;
        if length > protocol::MAX_HEADER_BYTES {
            return Err(broken(format!("an answer with a header of {length} bytes")));
        }
        let mut header = vec![0; length];
        self.stdout.read_exact(&mut header).await.map_err(cut)?;
        match serde_json::from_slice(&header).map_err(|error| broken(format!("an unreadable answer: {error}")))? {
            Reply::Failed(error) => Ok(Err(error)),
            Reply::Read { mut extracted, bytes } => {
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                if bytes > max_output_bytes || !extracted.markdown.is_empty() {
                    return Err(broken(format!("an answer of {bytes} bytes")));
                }
                // Grows with what arrives, not with what was promised.
                let mut markdown = Vec::new();
                (&mut self.stdout).take(bytes as u64).read_to_end(&mut markdown).await.map_err(cut)?;
                if markdown.len() != bytes {
                    return Err(broken("an answer that ends early"));
                }
                extracted.markdown = String::from_utf8(markdown).map_err(|_| broken("an answer that is not UTF-8"))?;
                protocol::trim(&mut extracted);
                Ok(Ok(extracted))
            }
        }
    }

    /// Replaces "no answer" by the reason the worker died of, if it died.
    async fn post_mortem(&mut self, error: ExtractError) -> ExtractError {
        match tokio::time::timeout(EXIT_WAIT, self.child.wait()).await {
            Ok(status) => {
                // All it said is in the pipe; wait until it has been heard.
                let _ = tokio::time::timeout(EXIT_WAIT, &mut self.listener).await;
                let heard = self.last_words.lock().unwrap_or_else(PoisonError::into_inner).clone();
                fate::explain(status.ok(), &String::from_utf8_lossy(&heard))
            }
            Err(_) => error,
        }
    }

    /// Whether the process still runs, as far as can be seen without asking it.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the process and waits until it is gone.
    pub(super) async fn end(mut self) {
        let _ = self.child.kill().await;
        self.listener.abort();
    }
}

enum Sending {
    Input(ExtractError),
    Pipe,
}
