//! Transports of DevTools messages.

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// Messages of the browser that wait for the router.
const ARRIVED: usize = 8;

/// Messages to and from a browser, each a JSON text. Dropping `outgoing` closes the connection.
pub struct Wire {
    pub outgoing: mpsc::UnboundedSender<String>,
    pub incoming: mpsc::Receiver<String>,
}

/// Exchanges messages over pipes, where each ends with a zero byte. One of more than `max_message` bytes ends the exchange.
pub fn pipes(
    reader: impl AsyncRead + Send + Unpin + 'static,
    mut writer: impl AsyncWrite + Send + Unpin + 'static,
    max_message: usize,
) -> Wire {
    let (outgoing, mut messages) = mpsc::unbounded_channel::<String>();
    let (arrived, incoming) = mpsc::channel(ARRIVED);
    tokio::spawn(async move {
        while let Some(text) = messages.recv().await {
            let mut bytes = text.into_bytes();
            bytes.push(0);
            if writer.write_all(&bytes).await.is_err() {
                break;
            }
        }
    });
    tokio::spawn(async move {
        let mut reader = BufReader::new(reader);
        loop {
            let mut bytes = Vec::new();
            let read = (&mut reader).take(max_message as u64 + 1).read_until(0, &mut bytes).await;
            if read.is_err() || bytes.pop() != Some(0) {
                break;
            }
            let Ok(text) = String::from_utf8(bytes) else { break };
            if arrived.send(text).await.is_err() {
                break;
            }
        }
    });
    Wire { outgoing, incoming }
}

/// Exchanges messages over a WebSocket.
pub fn socket(socket: WebSocketStream<TcpStream>) -> Wire {
    let (outgoing, mut messages) = mpsc::unbounded_channel::<String>();
    let (arrived, incoming) = mpsc::channel(ARRIVED);
    let (mut sink, mut stream) = socket.split();
    tokio::spawn(async move {
        while let Some(text) = messages.recv().await {
            if sink.send(Message::text(text)).await.is_err() {
                break;
            }
        }
        let _ = sink.close().await;
    });
    tokio::spawn(async move {
        while let Some(Ok(message)) = stream.next().await {
            let Message::Text(text) = message else { continue };
            if arrived.send(text.to_string()).await.is_err() {
                break;
            }
        }
    });
    Wire { outgoing, incoming }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[tokio::test]
    async fn messages_end_with_a_zero_byte_and_long_ones_end_the_exchange() {
        let (ours, theirs) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(ours);
        let mut wire = pipes(reader, writer, 8);
        let (mut their_reader, mut their_writer) = tokio::io::split(theirs);
        wire.outgoing.send("{}".to_owned()).unwrap();
        let mut sent = [0; 3];
        their_reader.read_exact(&mut sent).await.unwrap();
        assert_eq!(&sent, b"{}\0");
        their_writer.write_all(b"12345678\x00a\x00123456789\x00b\x00").await.unwrap();
        assert_eq!(wire.incoming.recv().await.as_deref(), Some("12345678"));
        assert_eq!(wire.incoming.recv().await.as_deref(), Some("a"));
        assert_eq!(wire.incoming.recv().await, None);
    }
}
