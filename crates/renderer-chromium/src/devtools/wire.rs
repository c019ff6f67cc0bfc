//! Transports of DevTools messages.

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// Messages of the browser that wait for the router.
const ARRIVED: usize = 8;

/// Maximum size of a message that a WebSocket receives. Chromium sends none above 256 MB. The client cannot skip a longer message:
/// it would end the connection, and with it all other pages.
const MAX_SOCKET_MESSAGE: usize = 256 << 20;

/// Messages to and from a browser, each a JSON text. Dropping `outgoing` closes the connection.
pub struct Wire {
    pub outgoing: mpsc::UnboundedSender<String>,
    pub incoming: mpsc::Receiver<String>,
}

/// Exchanges messages over pipes, where each ends with a zero byte. Messages of more than `max_message` bytes are skipped: only
/// the page that caused one lacks it.
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
        while let Some(text) = next_message(&mut reader, max_message).await {
            if arrived.send(text).await.is_err() {
                break;
            }
        }
    });
    Wire { outgoing, incoming }
}

/// Returns the next message of at most `limit` bytes. `None` at the end of the exchange.
async fn next_message(reader: &mut (impl AsyncBufRead + Unpin), limit: usize) -> Option<String> {
    let mut bytes = Vec::new();
    let mut is_too_long = false;
    loop {
        let arrived = reader.fill_buf().await.ok().filter(|arrived| !arrived.is_empty())?;
        let end = arrived.iter().position(|byte| *byte == 0);
        let part = &arrived[..end.unwrap_or(arrived.len())];
        if is_too_long || part.len() > limit - bytes.len() {
            is_too_long = true;
            // Its memory is given back at once.
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(part);
        }
        let consumed = part.len() + usize::from(end.is_some());
        reader.consume(consumed);
        if end.is_none() {
            continue;
        }
        match String::from_utf8(std::mem::take(&mut bytes)) {
            Ok(text) if !is_too_long => return Some(text),
            _ => tracing::debug!(is_too_long, "skipped a message of the browser"),
        }
        is_too_long = false;
    }
}

/// Returns the settings of a WebSocket to a browser.
pub fn socket_config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(MAX_SOCKET_MESSAGE)).max_frame_size(Some(MAX_SOCKET_MESSAGE))
}

/// Exchanges messages over a WebSocket with the settings of [`socket_config`]. Messages of more than `max_message` bytes are
/// skipped.
pub fn socket(socket: WebSocketStream<TcpStream>, max_message: usize) -> Wire {
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
            if text.len() > max_message {
                tracing::debug!(is_too_long = true, "skipped a message of the browser");
                continue;
            }
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
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;

    #[tokio::test]
    async fn messages_end_with_a_zero_byte_and_long_ones_are_skipped() {
        let (ours, theirs) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(ours);
        let mut wire = pipes(reader, writer, 8);
        let (mut their_reader, mut their_writer) = tokio::io::split(theirs);
        wire.outgoing.send("{}".to_owned()).unwrap();
        let mut sent = [0; 3];
        their_reader.read_exact(&mut sent).await.unwrap();
        assert_eq!(&sent, b"{}\0");
        their_writer.write_all(b"12345678\x00a\x00123456789\x00b\x00").await.unwrap();
        // More than all buffers hold.
        their_writer.write_all(&[b'x'; 100_000]).await.unwrap();
        their_writer.write_all(b"\x00c\x00\xff\x00d\x00unfinished").await.unwrap();
        their_writer.shutdown().await.unwrap();
        for expected in ["12345678", "a", "b", "c", "d"] {
            assert_eq!(wire.incoming.recv().await.as_deref(), Some(expected));
        }
        assert_eq!(wire.incoming.recv().await, None);
    }

    #[tokio::test]
    async fn long_messages_of_a_socket_are_skipped() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (theirs, _) = listener.accept().await.unwrap();
        let ours = WebSocketStream::from_raw_socket(ours, Role::Client, Some(socket_config())).await;
        let mut theirs = WebSocketStream::from_raw_socket(theirs, Role::Server, None).await;
        let mut wire = socket(ours, 8);
        for text in ["12345678", "123456789", "a"] {
            theirs.send(Message::text(text)).await.unwrap();
        }
        for expected in ["12345678", "a"] {
            assert_eq!(wire.incoming.recv().await.as_deref(), Some(expected));
        }
    }
}
