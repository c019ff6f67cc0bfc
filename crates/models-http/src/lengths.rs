//! Texts that an endpoint finds too long.

use crate::endpoint::Reply;

/// Texts of this length fit every model, also in scripts with a token per character.
pub const MIN_CHARS: usize = 400;

/// Words of a client error about the length of the texts.
const SIGNS: [&str; 5] = ["token", "length", "too long", "too large", "context"];
/// Phrases of status 500 about the length of the texts. Its other messages are about the server, such as a context of the model that
/// it cannot create, or a deadline: they say nothing about the texts.
const SIGNS_OF_500: [&str; 5] =
    ["too large to process", "input is too long", "input length exceeds", "context length", "context size"];

/// Returns true if the endpoint names the length of the texts as the reason of a rejection. llama.cpp has status 500 for it.
pub fn is_too_long(reply: &Reply) -> bool {
    let signs = match reply.status {
        400 | 413 | 422 => SIGNS,
        500 => SIGNS_OF_500,
        _ => return false,
    };
    let text = String::from_utf8_lossy(&reply.body).to_ascii_lowercase();
    signs.iter().any(|sign| text.contains(sign))
}

/// Returns half the length of the longest text in characters, at least `minimum`; `None` if no text is longer than that.
pub fn shorter<T: AsRef<str>>(texts: &[T], minimum: usize) -> Option<usize> {
    let longest = texts.iter().map(|text| text.as_ref().chars().count()).max()?;
    (longest > minimum).then(|| (longest / 2).max(minimum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply { status, retry_after: None, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn rejections_of_long_texts_are_recognized() {
        for (status, body) in [
            (400, "This model's maximum context length is 512 tokens"),
            (413, "<h1>413 Request Entity Too Large</h1>"),
            (422, r#"{"error": "`inputs` must have less than 512 tokens"}"#),
            (500, "input is too large to process. increase the physical batch size"),
            (500, "input (812 tokens) is too large to process. increase the physical batch size"),
            (500, "Input is too long for this model"),
            (500, r#"{"error": "the input length exceeds the context length"}"#),
            (500, "input is larger than the max context size. skipping"),
        ] {
            assert!(is_too_long(&reply(status, body)), "{body}");
        }
    }

    #[test]
    fn other_rejections_are_not_about_the_length() {
        for (status, body) in [
            (400, "unknown model `m`"),
            (401, "invalid token"),
            (404, ""),
            (500, "out of memory"),
            (500, "error:failed to create context with model"),
            (500, "context deadline exceeded"),
            (500, "failed to sample token"),
            (500, "unexpected content length"),
            (503, "the input length exceeds the context length"),
        ] {
            assert!(!is_too_long(&reply(status, body)), "{body}");
        }
    }

    #[test]
    fn long_texts_are_halved_down_to_a_minimum() {
        let texts = |length: usize| ["a".to_owned(), "é".repeat(length)];
        assert_eq!(shorter(&texts(2_000), MIN_CHARS), Some(1_000));
        assert_eq!(shorter(&texts(500), MIN_CHARS), Some(400));
        assert_eq!(shorter(&texts(400), MIN_CHARS), None);
        assert_eq!(shorter(&texts(400), 100), Some(200));
        assert_eq!(shorter::<String>(&[], MIN_CHARS), None);
    }
}
