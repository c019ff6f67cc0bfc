//! Videos and sounds of a page.

use dom_query::Document;

use super::measure::weight;

/// Minimum weight of text in a video or sound for it to be content: a transcript, or the rest of a page behind a tag that is
/// never closed. Less is a message for browsers that cannot play it.
const MIN_CONTENT: f64 = 250.0;

/// Removes the messages for browsers that cannot play a video or sound. Captions stand beside these.
pub(super) fn remove_messages(page: &Document) {
    for medium in page.select("video, audio").nodes() {
        if weight(&medium.text()) < MIN_CONTENT {
            medium.remove_children();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::render;

    #[test]
    fn messages_in_media_are_removed() {
        let message = "Your browser does not support the video tag.";
        let transcript = "They spoke of the river and of the old road. ".repeat(10);
        for (html, expected) in [
            (format!("a <video src=x>{message} <a href='http://a.b'>Get it</a></video> b"), "a\n\nb".to_owned()),
            (format!("a <audio><p>{message}</p><track></audio>"), "a".to_owned()),
            (
                format!("<figure><video>{message}</video><figcaption>The ford in spring</figcaption></figure>"),
                "The ford in spring".to_owned(),
            ),
            (format!("<video><p>{transcript}</p></video>"), transcript.trim().to_owned()),
        ] {
            let page = Document::from(format!("<body>{html}</body>"));
            remove_messages(&page);
            assert_eq!(render::markdown(&page.body().expect("a body")), expected, "{html}");
        }
    }
}
