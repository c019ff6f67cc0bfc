//! Operations of SQLite on one thread: all statements of an operation run on the blocking thread that runs the operation.
//!
//! By default diesel-async sends each statement to a blocking thread and waits for it. A transaction of two statements would change
//! threads eight times, which takes longer than its statements.

use std::error::Error;

use diesel::SqliteConnection;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use futures_util::future::{self, BoxFuture};
use tokio::runtime::Handle;
use tokio::task::JoinError;

use crate::error::{Result, joined};

pub type Conn = SyncConnectionWrapper<SqliteConnection, SameThread>;

/// Runs statements where they are awaited. Use connections with it within [`run`] only.
pub struct SameThread;

impl SpawnBlocking for SameThread {
    fn spawn_blocking<'a, R>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, std::result::Result<R, Box<dyn Error + Send + Sync + 'static>>>
    where
        R: Send + 'static,
    {
        Box::pin(future::ready(Ok(task())))
    }

    fn get_runtime() -> Self {
        Self
    }
}

/// Runs the body on a blocking thread of the runtime, to its end even if the future is dropped.
pub async fn run<T: Send + 'static>(
    runtime: &Handle,
    body: impl Future<Output = T> + Send + 'static,
) -> std::result::Result<T, JoinError> {
    let waiting = runtime.clone();
    runtime.spawn_blocking(move || waiting.block_on(body)).await
}

/// Runs the body with a connection, like [`run`].
pub async fn run_with<T, F>(runtime: &Handle, mut connection: Object<Conn>, body: F) -> Result<T>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
{
    joined(run(runtime, async move { body(&mut connection).await }).await)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use std::thread;
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    async fn thread_of_statement() -> thread::ThreadId {
        SameThread.spawn_blocking(|| thread::current().id()).await.unwrap()
    }

    #[tokio::test]
    async fn statements_run_on_the_thread_of_their_operation() {
        let operation = async { (thread::current().id(), thread_of_statement().await, thread_of_statement().await) };
        let (own, first, second) = run(&Handle::current(), operation).await.unwrap();
        assert_eq!((own, own), (first, second));
        assert_ne!(own, thread::current().id());
    }

    #[tokio::test]
    async fn operations_end_after_their_futures_are_dropped() {
        let (started, starts) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let operation = async move {
            started.send(()).unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
            end.send(()).unwrap();
        };
        let runtime = Handle::current();
        tokio::select! {
            biased;
            _ = run(&runtime, operation) => unreachable!("dropped before"),
            _ = starts => {}
        }
        ended.await.unwrap();
    }

    #[tokio::test]
    async fn panics_are_errors() {
        let panicking = async { assert!(thread::panicking(), "a bug") };
        assert!(run(&Handle::current(), panicking).await.unwrap_err().is_panic());
    }
}
