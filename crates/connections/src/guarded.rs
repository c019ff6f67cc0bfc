use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::slot::Requests;
use crate::{Pace, Serving, Slot, Waiting};

/// Stream of an admitted connection, which ends if the connection is replaced, and fails if its peer reads too slowly or
/// sends the head of a request too slowly.
///
/// Bodies of requests pass through: the code that reads them knows when it waits for the peer.
pub struct Guarded<S> {
    stream: S,
    slot: Slot,
    writing: Waiting,
    /// Protects the connection while a write is pending.
    pending_write: Option<Serving>,
    head_timeout: Duration,
    /// Timer of a head that has begun.
    head: Option<Head>,
}

struct Head {
    timer: Pin<Box<Sleep>>,
    /// Uses of the connection before this head. The next one begins once the head is complete.
    uses: u64,
}

impl<S> Guarded<S> {
    /// Wraps the stream of an admitted connection. `head_timeout` begins with the first byte of a request.
    pub fn new(stream: S, slot: Slot, reading_pace: Pace, head_timeout: Duration) -> Self {
        Self { stream, slot, writing: Waiting::new(reading_pace), pending_write: None, head_timeout, head: None }
    }

    /// Returns the source of guards for the requests of this connection.
    pub fn requests(&self) -> Requests {
        self.slot.requests()
    }

    /// Ends the wait for the head of a request: what was received is the handshake of a protocol below HTTP.
    pub fn end_handshake(&mut self) {
        self.head = None;
    }

    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Returns progress unchanged, and an error if the peer has read too slowly.
    fn limit_write<T>(
        &mut self,
        context: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        match &progress {
            Poll::Ready(Ok(written)) => {
                self.writing.progress(bytes(written));
                self.pending_write = None;
                progress
            }
            Poll::Ready(Err(_)) => progress,
            Poll::Pending => {
                if self.pending_write.is_none() {
                    self.pending_write = Some(self.slot.requests().serve());
                }
                ready!(self.writing.poll_exhausted(context));
                self.slot.count_slow();
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly")))
            }
        }
    }

    /// Fails if a head has begun and is not complete in time.
    fn limit_head(&mut self, context: &mut Context<'_>, received: bool) -> Poll<io::Error> {
        let (is_waiting, uses) = (self.slot.is_waiting(), self.slot.begun());
        // A request that is answered at once begins and ends between two reads.
        if !is_waiting || self.head.as_ref().is_some_and(|head| head.uses != uses) {
            self.head = None;
        }
        if received && is_waiting && self.head.is_none() {
            self.head = Some(Head { timer: Box::pin(tokio::time::sleep(self.head_timeout)), uses });
        }
        let Some(head) = &mut self.head else { return Poll::Pending };
        ready!(head.timer.as_mut().poll(context));
        self.slot.count_slow();
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the client sends too slowly"))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.slot.poll_replaced(context).is_ready() {
            // Nothing read is the end of the stream.
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        let progress = Pin::new(&mut this.stream).poll_read(context, into);
        let received = into.filled().len() > before;
        match this.limit_head(context, received) {
            Poll::Ready(error) if !received => Poll::Ready(Err(error)),
            Poll::Ready(_) | Poll::Pending => progress,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let progress = Pin::new(&mut this.stream).poll_write(context, from);
        this.limit_write(context, progress, |written| *written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let progress = Pin::new(&mut this.stream).poll_write_vectored(context, from);
        this.limit_write(context, progress, |written| *written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let progress = Pin::new(&mut this.stream).poll_flush(context);
        this.limit_write(context, progress, |()| 0)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let progress = Pin::new(&mut this.stream).poll_shutdown(context);
        this.limit_write(context, progress, |()| 0)
    }
}
