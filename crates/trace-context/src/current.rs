//! Context of the current task.

use std::future::Future;

use futures_util::future::Either;

use crate::TraceContext;

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// Runs work with a current context.
pub fn within<F: Future>(context: TraceContext, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(context, work)
}

/// Calls a function with a current context, or with the present one.
pub(crate) fn sync_within<T>(context: Option<&TraceContext>, call: impl FnOnce() -> T) -> T {
    match context {
        Some(context) => CURRENT.sync_scope(context.clone(), call),
        None => call(),
    }
}

/// Returns the current context; `None` outside of [`within`].
pub fn current() -> Option<TraceContext> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Applies a function to the current context, if there is one.
pub(crate) fn with_current<T>(f: impl FnOnce(&TraceContext) -> Option<T>) -> Option<T> {
    CURRENT.try_with(f).ok().flatten()
}

/// Returns the headers of the current context; none outside of [`within`].
pub fn headers() -> impl Iterator<Item = (&'static str, String)> {
    current().into_iter().flat_map(|context| context.headers())
}

/// Makes the present context that of work which another task will do.
pub fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> {
    match current() {
        Some(context) => Either::Left(within(context, work)),
        None => Either::Right(work),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn context_is_current_within_its_work_only() {
        let id = Uuid::from_u128(7);
        assert_eq!((current(), headers().count()), (None, 0));
        let inside = within(TraceContext::start(id), async { current() }).await.unwrap();
        assert_eq!(inside.trace_id(), id.simple().to_string());
        assert_eq!(within(inside, async { headers().count() }).await, 1);
    }

    #[tokio::test]
    #[expect(clippy::async_yields_async, reason = "the work outlives what it was made in")]
    async fn carried_work_has_the_context_of_its_origin() {
        let context = TraceContext::start(Uuid::from_u128(7));
        let work = within(context.clone(), async { carried(async { current() }) }).await;
        assert_eq!(tokio::spawn(work).await.unwrap(), Some(context));
        assert_eq!(tokio::spawn(carried(async { current() })).await.unwrap(), None);
    }
}
