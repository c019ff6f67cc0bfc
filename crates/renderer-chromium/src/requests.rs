//! Requests of a page, and those that are worth their cost: text comes from documents, scripts and data.

use serde_json::Value;

/// Kinds of requests that scripts make text of. A style sheet that cannot be loaded keeps some scripts from running.
const WANTED: [&str; 7] = ["Script", "Stylesheet", "XHR", "Fetch", "EventSource", "WebSocket", "Preflight"];

/// Answer to a paused request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The page itself, which has been fetched.
    Page,
    Continue,
    Refuse,
}

/// Returns the answer to the event `Fetch.requestPaused`. Only the first document of the main frame exists: other ones would
/// be other pages, and those in frames are not part of the text.
pub fn answer(event: &Value, main_frame: &str, has_page: bool) -> Answer {
    let url = event["request"]["url"].as_str().unwrap_or_default();
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Answer::Refuse;
    }
    match event["resourceType"].as_str().unwrap_or_default() {
        "Document" if !has_page && event["frameId"] == main_frame => Answer::Page,
        // Scripts of workers, and icons.
        "Other" if !event["request"]["headers"]["Accept"].as_str().unwrap_or_default().starts_with("image/") => {
            Answer::Continue
        }
        kind if WANTED.contains(&kind) => Answer::Continue,
        _ => Answer::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_requests_that_can_add_text_are_made() {
        for (kind, frame, url, has_page, expected) in [
            ("Document", "main", "https://example.com/", false, Answer::Page),
            ("Document", "main", "https://example.com/", true, Answer::Refuse),
            ("Document", "inner", "https://example.com/", false, Answer::Refuse),
            ("Script", "main", "https://example.com/a.js", true, Answer::Continue),
            ("Fetch", "inner", "http://example.com/data", true, Answer::Continue),
            ("Image", "main", "https://example.com/a.png", true, Answer::Refuse),
            ("Media", "main", "https://example.com/a.mp4", true, Answer::Refuse),
            ("Ping", "main", "https://example.com/log", true, Answer::Refuse),
            ("Script", "main", "file:///etc/passwd", true, Answer::Refuse),
            ("Script", "main", "chrome://version", true, Answer::Refuse),
        ] {
            let event = json!({"resourceType": kind, "frameId": frame, "request": {"url": url}});
            assert_eq!(answer(&event, "main", has_page), expected, "{kind} {url}");
        }
        for (accept, expected) in [("*/*", Answer::Continue), ("image/avif,image/*,*/*;q=0.8", Answer::Refuse)] {
            let request = json!({"url": "https://example.com/a", "headers": {"Accept": accept}});
            let event = json!({"resourceType": "Other", "frameId": "main", "request": request});
            assert_eq!(answer(&event, "main", true), expected, "{accept}");
        }
        assert_eq!(answer(&json!({}), "main", false), Answer::Refuse);
    }
}
