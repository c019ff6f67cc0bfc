//! The pool's side of one worker process.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use extract::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::cpu_time::CpuClock;
use crate::pace::{Meter, Pace, TimeLimits};
use crate::protocol::{self, Reply, Task, broken};
use crate::spawner::{Spawned, Spawner};
use crate::{Compartment, Input, WorkError, death, priority};

/// Bytes kept of the end of a worker's standard error.
const STDERR_TAIL: usize = 4_096;
/// Time for a worker that closed its pipes to exit.
const EXIT_WAIT: Duration = Duration::from_secs(2);
/// Interval of reading the clocks of a document.
const CHECK: Duration = Duration::from_millis(50);

pub struct Worker {
    child: Child,
    clock: Option<Arc<CpuClock>>,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    stderr_reader: JoinHandle<()>,
    /// Origin of everything that this worker reads.
    pub compartment: Compartment,
    /// Documents read so far.
    pub files: u32,
    /// It has low priority, which only a privileged process could raise again.
    pub slowed: bool,
    pub idle_since: Instant,
}

/// Result of one document, from which the pool decides about the worker.
pub enum Outcome {
    /// The worker answered and can be reused.
    Answered(Result<Extracted, ExtractError>),
    /// The worker is gone or no longer trusted.
    Lost(ExtractError),
    /// Other work had the cores. Says nothing about the document.
    Starved,
    /// The input could not be sent, and the worker has received only a part of it.
    NotSent(WorkError),
}

impl Worker {
    pub async fn start(spawner: &Spawner, compartment: Compartment) -> Result<Self, WorkError> {
        let Spawned { mut child, clock } = spawner.spawn().await?;
        let (Some(stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(WorkError::Unavailable("the worker has no pipes".into()));
        };
        let stderr_tail = Arc::new(Mutex::new(Vec::new()));
        let tail = Arc::clone(&stderr_tail);
        let stderr_reader = tokio::spawn(async move {
            let mut buffer = [0; 1024];
            while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
                let text = String::from_utf8_lossy(&buffer[..read]);
                tracing::debug!(worker = text.trim_end(), "extraction worker");
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(&buffer[..read]);
                let surplus = tail.len().saturating_sub(STDERR_TAIL);
                tail.drain(..surplus);
            }
        });
        Ok(Self {
            child,
            clock: clock.map(Arc::new),
            stdin,
            stdout,
            stderr_tail,
            stderr_reader,
            compartment,
            files: 0,
            slowed: false,
            idle_since: Instant::now(),
        })
    }

    /// Reads one document within its limits. Once it is slow, notifies `slow`, and others have the cores first.
    pub async fn read(
        &mut self,
        request: &ExtractRequest,
        input: &Input,
        limits: &TimeLimits,
        max_output_bytes: usize,
        slow: &Notify,
    ) -> Outcome {
        self.files += 1;
        let (process, mut meter) = (self.child.id(), Meter::start(self.clock.clone()));
        let mut slowed = false;
        let ended = {
            let mut exchange = pin!(self.exchange(request, input, max_output_bytes));
            loop {
                if let Ok(outcome) = tokio::time::timeout(CHECK, exchange.as_mut()).await {
                    break Ok(outcome);
                }
                match meter.pace(limits) {
                    Pace::Quick => {}
                    Pace::Slow if slowed => {}
                    Pace::Slow => {
                        slowed = true;
                        slow.notify_one();
                        if let Some(process) = process {
                            priority::lower(process);
                        }
                    }
                    Pace::TooLong => break Err(timed_out(limits.cpu, "seconds of CPU time")),
                    Pace::Starved => break Err(Outcome::Starved),
                    Pace::Hanging => break Err(timed_out(limits.wall, "seconds")),
                }
            }
        };
        self.slowed |= slowed;
        match ended {
            Ok(Outcome::Lost(error)) => Outcome::Lost(self.post_mortem(error).await),
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    async fn exchange(&mut self, request: &ExtractRequest, input: &Input, max_output_bytes: usize) -> Outcome {
        match self.send(request, input).await {
            Ok(()) => {}
            Err(Sending::Input(error)) => return Outcome::NotSent(error),
            // A worker that rejects an input reports why and ends: its answer may be in the pipe already.
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
                    Sending::Input(WorkError::Unavailable(format!("the input file cannot be read: {error}")))
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
        let head =
            protocol::head(&Task { request: request.clone(), bytes }).map_err(|error| Sending::Input(error.into()))?;
        self.stdin.write_all(&head).await.map_err(|_| Sending::Pipe)
    }

    /// Receives the answer.
    ///
    /// # Errors
    /// Any violation of the protocol.
    async fn receive(&mut self, max_output_bytes: usize) -> Result<Result<Extracted, ExtractError>, ExtractError> {
        let cut = |error: std::io::Error| broken(format!("no answer: {error}"));
        let length = self.stdout.read_u32_le().await.map_err(cut)? as usize;
        if length > protocol::MAX_HEADER_BYTES {
            return Err(broken(format!("an answer with a header of {length} bytes")));
        }
        let mut header = vec![0; length];
        self.stdout.read_exact(&mut header).await.map_err(cut)?;
        match serde_json::from_slice(&header).map_err(|error| broken(format!("an unreadable answer: {error}")))? {
            // Of a worker that a document may have taken over.
            Reply::Failed(error) => Ok(Err(ExtractError::new(error.kind, error.message))),
            Reply::Read { mut extracted, bytes } => {
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                if bytes > max_output_bytes || !extracted.markdown.is_empty() {
                    return Err(broken(format!("an answer of {bytes} bytes")));
                }
                // Grows with the received bytes, not with the announced length.
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

    /// Replaces the protocol error by the cause of death, if the worker died.
    async fn post_mortem(&mut self, error: ExtractError) -> ExtractError {
        match tokio::time::timeout(EXIT_WAIT, self.child.wait()).await {
            Ok(status) => {
                // The rest of its standard error is in the pipe; wait until it has been read.
                let _ = tokio::time::timeout(EXIT_WAIT, &mut self.stderr_reader).await;
                let tail = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner).clone();
                death::explain(status.ok(), &String::from_utf8_lossy(&tail))
            }
            Err(_) => error,
        }
    }

    /// Returns `true` while the process runs, according to the operating system.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the process and waits for its exit.
    pub async fn end(mut self) {
        let _ = self.child.kill().await;
        self.stderr_reader.abort();
    }
}

fn timed_out(limit: Duration, unit: &str) -> Outcome {
    let message = format!("over {} {unit}", limit.as_secs_f64());
    Outcome::Lost(ExtractError::new(ExtractErrorKind::TimedOut, message))
}

enum Sending {
    Input(WorkError),
    Pipe,
}
