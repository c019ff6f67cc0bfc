//! Threads of SQLite, whose calls block.
//!
//! diesel-async sends each statement to another thread and waits for it there, which costs more than most statements. Here all
//! statements of an operation run on one such thread.

use std::cell::Cell;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use diesel::SqliteConnection;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use tokio::runtime::Handle;

use crate::error::{Result, StoreError};

pub type Conn = SyncConnectionWrapper<SqliteConnection, Statements>;

thread_local! {
    /// True on a thread that runs an operation.
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Runs an operation on one thread that may block. It ends even if the caller's future is dropped.
pub async fn run<T: Send + 'static>(operation: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let runtime = Handle::current();
    let running = tokio::task::spawn_blocking(move || {
        let _reset = MayBlock::set();
        runtime.block_on(operation)
    });
    running.await.map_err(|error| StoreError::Interrupted(Box::new(error)))
}

/// Mark of the current thread until it is dropped, also by a panic: the thread runs other work afterwards.
struct MayBlock;

impl MayBlock {
    fn set() -> Self {
        MAY_BLOCK.set(true);
        Self
    }
}

impl Drop for MayBlock {
    fn drop(&mut self) {
        MAY_BLOCK.set(false);
    }
}

/// Runs each statement where it is awaited if that thread may block, otherwise on one that may.
pub struct Statements;

impl SpawnBlocking for Statements {
    fn spawn_blocking<'a, R>(
        &mut self,
        statement: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn Error + Send + Sync + 'static>>>
    where
        R: Send + 'static,
    {
        if MAY_BLOCK.get() {
            let outcome = catch_unwind(AssertUnwindSafe(statement)).map_err(|_| "the statement panicked".into());
            return future::ready(outcome).boxed();
        }
        let running = tokio::task::spawn_blocking(statement);
        async move { running.await.map_err(Box::from) }.boxed()
    }

    fn get_runtime() -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use std::thread;

    use super::*;

    async fn thread_of_statement() -> thread::ThreadId {
        Statements.spawn_blocking(|| thread::current().id()).await.unwrap()
    }

    #[tokio::test]
    async fn statements_of_an_operation_share_its_thread() {
        let operation = async { (thread::current().id(), thread_of_statement().await, thread_of_statement().await) };
        let (own, first, second) = run(operation).await.unwrap();
        assert_eq!((own, own), (first, second));
        assert_ne!(own, thread::current().id());
        assert_ne!(thread_of_statement().await, thread::current().id());
    }

    #[tokio::test]
    async fn panics_are_errors_and_leave_no_mark() {
        let statement = || assert!(thread::panicking(), "a panic");
        let failed = run(async move { Statements.spawn_blocking(statement).await.is_err() }).await.unwrap();
        assert!(failed);
        let panics = async { assert!(thread::panicking(), "a panic") };
        assert!(matches!(run(panics).await, Err(StoreError::Interrupted(_))));
        // The pool reuses the thread.
        let marked = tokio::task::spawn_blocking(|| MAY_BLOCK.get()).await.unwrap();
        assert!(!marked);
    }
}
