//! Checks listings before the S3 library parses them. It takes any other document for an empty listing, panics on values that are not
//! numbers, and never returns from XML that ends within the root.

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use rusoto_core::request::HttpDispatchError;
use xml::reader::{EventReader, ParserConfig2, XmlEvent};

const ROOT: &str = "ListBucketResult";
/// Size limit in bytes: twice that of a page of 1,000 keys of 1,024 bytes, all of them escaped (`&quot;`), with their metadata.
const MAX_BYTES: usize = 16 << 20;
/// Limits of an element. The parser's time per element grows with both.
const MAX_DEPTH: usize = 16;
const MAX_NAMESPACES: usize = 16;
/// Limit of a message in characters: it quotes the document.
const MAX_MESSAGE_CHARS: usize = 200;

/// Reads the body of a successful response and returns it if it is a listing. Others count as failures of the way to the store: an
/// error page of a proxy, or a listing that ends early.
pub(crate) async fn read(
    body: impl Stream<Item = Result<Bytes, reqwest::Error>>,
) -> Result<Vec<u8>, HttpDispatchError> {
    let mut body = std::pin::pin!(body);
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| {
            // Without the URL, which the error itself may name.
            let mut text = "the listing cannot be read".to_owned();
            error_causes::append_causes(&mut text, &error);
            HttpDispatchError::new(text)
        })?;
        if bytes.len() + chunk.len() > MAX_BYTES {
            return Err(refusal("it is too large"));
        }
        bytes.extend_from_slice(&chunk);
    }
    match check(&bytes) {
        Ok(()) => Ok(bytes),
        Err(reason) => Err(refusal(&reason)),
    }
}

fn refusal(reason: &str) -> HttpDispatchError {
    let message = format!("the answer is not a listing: {reason}");
    HttpDispatchError::new(message.chars().take(MAX_MESSAGE_CHARS).collect())
}

/// Reads all events of a document. The error says why it is not a listing.
fn check(document: &[u8]) -> Result<(), String> {
    let config = ParserConfig2::new().allow_multiple_root_elements(false).max_attributes(16).max_attribute_length(1024);
    let mut reader = EventReader::new_with_config(document, config);
    let mut depth = 0;
    let mut has_root = false;
    // Check of the next text, if the element must have a certain one.
    let mut expected: Option<fn(&str) -> bool> = None;
    loop {
        match reader.next().map_err(|error| error.to_string())? {
            XmlEvent::StartElement { name, namespace, .. } => {
                let name = name.local_name;
                if !has_root && name != ROOT {
                    return Err(format!("its root is `{name}`"));
                }
                has_root = true;
                depth += 1;
                // Entities may be large.
                if depth > MAX_DEPTH || namespace.0.len() > MAX_NAMESPACES || reader.doctype().is_some() {
                    return Err("it is too complex".to_owned());
                }
                expected = value_check(&name);
            }
            XmlEvent::Characters(text) | XmlEvent::CData(text)
                if expected.take().is_some_and(|is_valid| !is_valid(&text)) =>
            {
                return Err(format!("`{text}` is no such value"));
            }
            XmlEvent::EndElement { name } => {
                depth -= 1;
                if expected.take().is_some() {
                    return Err(format!("`{}` is empty", name.local_name));
                }
            }
            XmlEvent::EndDocument => break,
            _ => {}
        }
    }
    if has_root { Ok(()) } else { Err("it has no root".to_owned()) }
}

/// Returns the check of an element's text, for those that the library unwraps.
fn value_check(name: &str) -> Option<fn(&str) -> bool> {
    match name {
        "IsTruncated" => Some(|text| text.parse::<bool>().is_ok()),
        "KeyCount" | "MaxKeys" | "Size" => Some(|text| text.parse::<i64>().is_ok()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

    fn listing(content: &str) -> String {
        format!(
            "{HEAD}<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{content}</ListBucketResult>"
        )
    }

    #[test]
    fn listings_are_passed() {
        let object = "<Contents><Key>a &amp; &#233; &quot;b&quot;</Key><Size>5</Size><ETag>\"x\"</ETag>\
            <Owner><ID>i</ID><DisplayName/></Owner></Contents>\n";
        let page = format!(
            "<Name>files</Name><Prefix></Prefix><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys>\
             <IsTruncated>false</IsTruncated>{object}{object}"
        );
        for content in ["", "<IsTruncated>true</IsTruncated>", page.as_str(), &object.repeat(1_000)] {
            check(listing(content).as_bytes()).unwrap();
        }
        check(b"<s3:ListBucketResult xmlns:s3=\"urn:x\"><s3:Size>1</s3:Size></s3:ListBucketResult>").unwrap();
    }

    #[test]
    fn other_documents_are_refused() {
        let whole = listing("<IsTruncated>false</IsTruncated><Contents><Key>k</Key></Contents>");
        for end in 0..whole.len() {
            assert!(check(&whole.as_bytes()[..end]).is_err(), "{end}");
        }
        let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
        let namespaces: String = (0..10_000).map(|number| format!(" xmlns:n{number}=\"u\"")).collect();
        for document in [
            "hi".to_owned(),
            HEAD.to_owned(),
            format!("{HEAD}<!-- ListBucketResult -->"),
            format!("{HEAD}<Error><Code>SlowDown</Code></Error>"),
            "<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head></html>".to_owned(),
            "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body/></html>".to_owned(),
            "<ListBucketResult/><ListBucketResult/>".to_owned(),
            "<!DOCTYPE a [<!ENTITY e \"1\">]><ListBucketResult>&e;</ListBucketResult>".to_owned(),
            format!("<ListBucketResult{namespaces}><a/></ListBucketResult>"),
            listing("<a></b>"),
            listing(&deep),
            listing("<IsTruncated>TRUE</IsTruncated>"),
            listing("<IsTruncated/>"),
            listing("<MaxKeys> </MaxKeys>"),
            listing("<KeyCount>99999999999999999999</KeyCount>"),
            listing("<Contents><Size>five</Size></Contents>"),
            listing("<Contents><Size>-<![CDATA[1]]></Size></Contents>"),
        ] {
            assert!(check(document.as_bytes()).is_err(), "{}", document.chars().take(100).collect::<String>());
        }
        assert!(check(b"<ListBucketResult>\xff</ListBucketResult>").is_err());
    }

    #[test]
    fn messages_are_short() {
        let message = refusal(&"x".repeat(100_000)).to_string();
        assert!(message.starts_with("the answer is not a listing: xxx") && message.len() == MAX_MESSAGE_CHARS);
    }
}
