//! Disconnects of clients, which end their requests.

use app::Charge;

/// Turns of the event loop in which the server drops a request whose client has left: in the first one it reads the end of the
/// connection, in the second one it acts on it.
const TURNS: usize = 2;

/// Keeps the charge of a complete answer. If the client left while the event loop was busy, the request is dropped here, and refunded.
pub(crate) async fn keep_unless_disconnected(charge: Charge) {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
    charge.keep();
}
