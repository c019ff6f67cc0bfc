//! Group commit of SQLite's single writer.
//!
//! A durable commit waits for the disk. Writes that arrive during a commit share the next one: the first of them to get the
//! connection runs all that wait in one transaction, each in its own savepoint, and reports to each caller after the
//! commit. A write that fails is rolled back alone.
//!
//! A transaction of relaxed writes only is committed without waiting for the disk. The next durable commit also makes it
//! durable, since the log is written in order.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use diesel::connection::{AnsiTransactionManager, TransactionManager as _};
use diesel::{QueryResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{AsyncConnection, SimpleAsyncConnection, TransactionManager};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::backend::same_thread::{self, Conn};
use crate::error::{Result, StoreError, is_sqlite_busy};

type Transactions = <Conn as AsyncConnection>::TransactionManager;

/// Maximum number of writes in one transaction.
const MAX_WRITES: usize = 64;
/// Time after which a transaction takes no further writes: its first one waits for all of them.
///
/// Unit tests do not depend on how fast they run.
const MAX_TIME: Duration = if cfg!(test) { Duration::from_secs(10) } else { Duration::from_millis(5) };

/// Maximum wait for the write lock, while other processes write.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// Interval of attempts to take the write lock.
const LOCK_RETRY: Duration = Duration::from_millis(1);
/// Pause after a bulk write, several times [`LOCK_RETRY`]: without it, a process that writes in bulk would take the lock again before another
/// one, such as a server, notices that it was free. Bulk writes take many times as long.
const BULK_PAUSE: Duration = Duration::from_millis(3);

/// Guarantee and size of a write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Small. Survives a power failure once it is acknowledged.
    Durable,
    /// Small. A power failure may lose the last of these writes.
    Relaxed,
    /// Durable. Runs in a transaction of its own, so that no other write waits for it after having run.
    Bulk,
}

/// Queue of the writes that wait for the connection, in the order of arrival.
#[derive(Default)]
pub struct GroupCommit {
    waiting: Mutex<VecDeque<Box<dyn Write>>>,
    /// True if the connection was last set to commit without waiting. A new connection waits.
    is_relaxed: AtomicBool,
}

impl GroupCommit {
    /// Runs the body in a transaction that holds the write lock from its start. Returns after the commit.
    pub async fn write<T, F>(self: &Arc<Self>, runtime: &Handle, writer: &Pool<Conn>, kind: Kind, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let (reply, mut outcome) = oneshot::channel();
        self.queue().push_back(Box::new(Pending { body: Some(body), result: None, reply, kind }));
        loop {
            let connection = tokio::select! {
                biased;
                outcome = &mut outcome => return outcome.unwrap_or_else(|_| Err(unavailable("the write was dropped"))),
                connection = writer.get() => connection.map_err(unavailable)?,
            };
            // The caller before may have run this write too.
            match outcome.try_recv() {
                Ok(outcome) => return outcome,
                Err(TryRecvError::Empty) => {
                    let group_commit = Arc::clone(self);
                    same_thread::run_with(runtime, connection, |connection| {
                        Box::pin(async move {
                            group_commit.commit_group(connection).await;
                            Ok(())
                        })
                    })
                    .await?;
                }
                Err(TryRecvError::Closed) => return Err(unavailable("the write was dropped")),
            }
        }
    }

    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.queue().len()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Box<dyn Write>>> {
        // Code under this lock does not panic.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next write whose caller still waits, if it `fits`.
    fn next(&self, fits: impl Fn(Kind) -> bool) -> Option<Box<dyn Write>> {
        let mut queue = self.queue();
        while queue.front().is_some_and(|write| write.is_abandoned()) {
            queue.pop_front();
        }
        queue.pop_front_if(|write| fits(write.kind()))
    }

    /// Runs waiting writes in one transaction and reports to their callers.
    async fn commit_group(&self, connection: &mut Conn) {
        let Some(first) = self.next(|_| true) else { return };
        let kind = first.kind();
        let mut group = vec![first];
        let failure = match self.run_group(connection, kind, &mut group).await {
            Ok(()) | Err(Abort::FirstFailed) => None,
            Err(Abort::Database(error)) => Some(error.to_string()),
        };
        for write in group {
            write.settle(failure.as_deref());
        }
        if kind == Kind::Bulk {
            // Blocks a thread that runs this write alone, and keeps the connection from the next one.
            thread::sleep(BULK_PAUSE);
        }
    }

    async fn run_group(&self, connection: &mut Conn, kind: Kind, group: &mut Vec<Box<dyn Write>>) -> Result<(), Abort> {
        let is_relaxed = kind == Kind::Relaxed;
        if self.is_relaxed.load(Ordering::Relaxed) != is_relaxed {
            // The database refuses this within a transaction.
            let level = if is_relaxed { "PRAGMA synchronous = NORMAL" } else { "PRAGMA synchronous = FULL" };
            connection.batch_execute(level).await?;
            self.is_relaxed.store(is_relaxed, Ordering::Relaxed);
        }
        connection.spawn_blocking(begin_immediate).await?;
        match self.run(connection, kind, group).await {
            Ok(()) => Ok(Transactions::commit_transaction(connection).await?),
            Err(abort) => {
                Transactions::rollback_transaction(connection).await?;
                Err(abort)
            }
        }
    }

    /// Runs the first write, and further ones in savepoints. Without others before it, a failed write needs none.
    async fn run(&self, connection: &mut Conn, kind: Kind, group: &mut Vec<Box<dyn Write>>) -> Result<(), Abort> {
        let started = Instant::now();
        for first in group.iter_mut() {
            if !first.run(connection, Place::Transaction).await {
                return Err(Abort::FirstFailed);
            }
        }
        let fits = |next| match kind {
            Kind::Durable => next != Kind::Bulk,
            Kind::Relaxed => next == Kind::Relaxed,
            Kind::Bulk => false,
        };
        while group.len() < MAX_WRITES
            && started.elapsed() < MAX_TIME
            && let Some(mut next) = self.next(fits)
        {
            next.run(connection, Place::Savepoint).await;
            group.push(next);
        }
        Ok(())
    }
}

/// Begins a transaction that holds the write lock from its start. diesel-async has one for connections of its own runtime only.
///
/// Waits for the lock on this thread, which must be a blocking one, and needs a connection without a busy timeout: SQLite would look at
/// longer and longer intervals, up to 100 ms, and miss the short times in which a process that writes in bulk frees the lock.
fn begin_immediate(connection: &mut SqliteConnection) -> QueryResult<()> {
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        match AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE") {
            Err(error) if is_sqlite_busy(&error) && Instant::now() < deadline => thread::sleep(LOCK_RETRY),
            outcome => return outcome,
        }
    }
}

/// Runs the body in a transaction that holds the write lock from its start, with the wait of [`begin_immediate`].
pub fn immediate_transaction<T>(
    connection: &mut SqliteConnection,
    body: impl FnOnce(&mut SqliteConnection) -> Result<T>,
) -> Result<T> {
    begin_immediate(connection)?;
    match body(connection) {
        Ok(value) => {
            AnsiTransactionManager::commit_transaction(connection)?;
            Ok(value)
        }
        Err(error) => {
            // The error of the body says more than one of the rollback.
            let _ = AnsiTransactionManager::rollback_transaction(connection);
            Err(error)
        }
    }
}

/// Reason to roll back a whole transaction.
enum Abort {
    /// The only write so far failed and knows its error.
    FirstFailed,
    Database(diesel::result::Error),
}

impl From<diesel::result::Error> for Abort {
    fn from(error: diesel::result::Error) -> Self {
        Abort::Database(error)
    }
}

#[derive(Clone, Copy)]
enum Place {
    Transaction,
    Savepoint,
}

/// A write of any result type.
trait Write: Send {
    fn kind(&self) -> Kind;

    /// Returns true if the caller no longer waits.
    fn is_abandoned(&self) -> bool;

    /// Runs the body. Returns false if it failed.
    fn run<'c>(&'c mut self, connection: &'c mut Conn, place: Place) -> BoxFuture<'c, bool>;

    /// Reports the outcome to the caller; `failure` is that of the transaction.
    fn settle(self: Box<Self>, failure: Option<&str>);
}

struct Pending<T, F> {
    /// `None` once it has run.
    body: Option<F>,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
    kind: Kind,
}

impl<T, F> Write for Pending<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
{
    fn kind(&self) -> Kind {
        self.kind
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn run<'c>(&'c mut self, connection: &'c mut Conn, place: Place) -> BoxFuture<'c, bool> {
        Box::pin(async move {
            let Some(body) = self.body.take() else { return false };
            let result = match place {
                Place::Transaction => caught(body, connection).await,
                Place::Savepoint => {
                    connection.transaction(async move |connection| caught(body, connection).await).await
                }
            };
            let succeeded = result.is_ok();
            self.result = Some(result);
            succeeded
        })
    }

    fn settle(self: Box<Self>, failure: Option<&str>) {
        let outcome = match (self.result, failure) {
            (Some(Err(error)), _) => Err(error),
            (Some(Ok(value)), None) => Ok(value),
            (_, Some(message)) => Err(unavailable(message)),
            (None, None) => Err(unavailable("the write did not run")),
        };
        // The caller may have left.
        let _ = self.reply.send(outcome);
    }
}

/// Runs the body; a panic becomes an error, so that it affects no other write.
async fn caught<T, F>(body: F, connection: &mut Conn) -> Result<T>
where
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>>,
{
    match AssertUnwindSafe(body(connection)).catch_unwind().await {
        Ok(result) => result,
        Err(_) => Err(StoreError::Interrupted("the operation panicked".into())),
    }
}

fn unavailable(error: impl ToString) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
