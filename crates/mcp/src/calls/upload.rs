use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Answer, Tail, line};
use crate::arguments::{self, Given, Unknown};
use crate::backend::{Backend, Failure, Upload};
use crate::inputs;

/// Largest text, in bytes.
const MAX_BYTES: usize = 200_000;

/// Extensions of files whose content is text as it is written.
const EXTENSIONS: [&str; 6] = ["md", "txt", "html", "htm", "csv", "tsv"];

#[derive(Debug, Deserialize)]
struct UploadArguments {
    name: String,
    text: String,
}

pub(super) async fn run<B: Backend>(arguments: Value, can_search: bool, backend: &B) -> Result<Answer, Failure> {
    let Given { request: UploadArguments { mut name, text }, mut notes } =
        arguments::own(arguments, arguments::UPLOAD, &inputs::upload_file(), Unknown::Refuse)?;
    match name.trim_end().rsplit_once('.') {
        Some((_, extension)) if EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)) => {}
        Some(_) => {
            let message = format!("name must end in one of .{}", EXTENSIONS.join(", ."));
            return Err(Failure::invalid("name", message));
        }
        None => {
            notes.push("the name has no extension: .md was added".to_owned());
            name = format!("{}.md", name.trim_end());
        }
    }
    if text.trim().is_empty() {
        return Err(Failure::invalid("text", "text must not be empty"));
    }
    if text.len() > MAX_BYTES {
        let message = format!("text must have at most {MAX_BYTES} bytes, not {}", text.len());
        return Err(Failure::invalid("text", message));
    }
    let size = text.len();
    let stored = backend.upload(Upload { name, text }).await;
    let stored = stored.map_err(|failure| arguments::as_written(failure, &[("name", "filename"), ("text", "size")]))?;
    if let Some(earlier) = &stored.replaces {
        notes.push(format!("it replaced the file that was sent as {}", line(earlier, 512)));
    }
    let mut tail = Tail::new(notes, &[]);
    if can_search {
        tail.next("once indexed, within seconds, call search with {\"query\": \"...\", \"indexes\": [\"workspace\"]}");
    }
    let fields = json!({
        "name": stored.name, "size": size, "sync_id": stored.sync_id, "state": stored.state,
    });
    let state = fields["state"].as_str().unwrap_or_default();
    let text =
        format!("Stored as {} ({size} bytes); indexing run {} is {state}.", line(&stored.name, 512), stored.sync_id);
    Answer::short(text, &fields, &tail)
}
