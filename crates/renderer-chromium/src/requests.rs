//! Requests of a page, and those that are worth their cost: text comes from documents, scripts and data.

use serde_json::Value;
use url::Url;

/// Kinds of requests that scripts make text of. A style sheet that cannot be loaded keeps some scripts from running.
const WANTED: [&str; 7] = ["Script", "Stylesheet", "XHR", "Fetch", "EventSource", "WebSocket", "Preflight"];

/// Answer to a paused request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The page itself, which has been fetched.
    Page,
    Continue,
    Refuse,
    /// Fails as a site that does not listen. Chromium, which tries https first, falls back to the URL that it was given.
    Unreachable,
}

/// Returns the answer to the event `Fetch.requestPaused`. `awaited` is the URL of the page until it has been handed over. Only
/// this document of the main frame exists: other ones would be other pages, and those in frames are not part of the text.
pub fn answer(event: &Value, main_frame: &str, awaited: Option<&Url>) -> Answer {
    let url = event["request"]["url"].as_str().unwrap_or_default();
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Answer::Refuse;
    }
    match event["resourceType"].as_str().unwrap_or_default() {
        "Document" if event["frameId"] == main_frame => match awaited {
            Some(page) if is_same_site(url, page) => Answer::Page,
            Some(_) => Answer::Unreachable,
            None => Answer::Refuse,
        },
        // Scripts of workers, and icons.
        "Other" if !event["request"]["headers"]["Accept"].as_str().unwrap_or_default().starts_with("image/") => {
            Answer::Continue
        }
        kind if WANTED.contains(&kind) => Answer::Continue,
        _ => Answer::Refuse,
    }
}

/// Returns true for URLs with the scheme, host and port of the page. Chromium may spell the rest differently.
fn is_same_site(url: &str, page: &Url) -> bool {
    Url::parse(url).is_ok_and(|url| url.origin() == page.origin())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use serde_json::json;

    use super::*;

    #[test]
    fn only_requests_that_can_add_text_are_made() {
        let page = Url::parse("https://example.com/").unwrap();
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
            let awaited = (!has_page).then_some(&page);
            assert_eq!(answer(&event, "main", awaited), expected, "{kind} {url}");
        }
        for (accept, expected) in [("*/*", Answer::Continue), ("image/avif,image/*,*/*;q=0.8", Answer::Refuse)] {
            let request = json!({"url": "https://example.com/a", "headers": {"Accept": accept}});
            let event = json!({"resourceType": "Other", "frameId": "main", "request": request});
            assert_eq!(answer(&event, "main", None), expected, "{accept}");
        }
        assert_eq!(answer(&json!({}), "main", Some(&page)), Answer::Refuse);
    }

    #[test]
    fn page_is_handed_over_at_its_own_site_only() {
        let page = Url::parse("http://example.com/a%20b?q#part").unwrap();
        for (url, expected) in [
            ("http://example.com/a%20b?q", Answer::Page),
            ("http://example.com:80/a b", Answer::Page),
            ("https://example.com/a%20b?q", Answer::Unreachable),
            ("http://example.com:8080/a%20b?q", Answer::Unreachable),
            ("http://other.example/a%20b?q", Answer::Unreachable),
        ] {
            let event = json!({"resourceType": "Document", "frameId": "main", "request": {"url": url}});
            assert_eq!(answer(&event, "main", Some(&page)), expected, "{url}");
        }
    }
}
