use api_types::{CitationsVerifyRequest, CitationsVerifyResponse};
use model::Scope;

use crate::examples::{self, Example};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// Comparison of quotes with stored content.
    VerifyCitations,
}

impl Operation for VerifyCitations {
    type Path = ();
    type Query = ();
    type Body = CitationsVerifyRequest;
    type Response = CitationsVerifyResponse;

    const ID: &'static str = "verifyCitations";
    const ROUTE: &'static str = "POST /v1/citations/verify";
    const TAG: Tag = Tag::Documents;
    const SCOPE: Option<Scope> = Some(Scope::DocumentRead);
    const SUMMARY: &'static str = "Verify citations";
    const DESCRIPTION: &'static str = "\
Compares up to 50 quotes, byte for byte, with the captures that they cite and with the latest captures of their documents. Nothing \
is fetched.

Quotes are those of passages and of markdown content, and may leave out the backslashes of escapes; content in the format `text` \
has other characters. A `changed` quote comes with the nearest text and the difference: starting with the last, put each `added` \
in the place of `removed` at `char_start` of the quote to get `text`. A capture that was replaced is kept for a time if it was \
shown or cited, by default 30 days. A deleted document is `gone` at once, and so is a document that is unknown or not granted. \
In documents of more than 1 MB the parts that have the words of the quote are compared.";
    const LABEL: &'static str = "Verify citations";
    const SUCCESS: &'static str = "The result of each comparison.";
    const INVALID: InvalidRequest = InvalidRequest {
        field: "citations[0].char_end",
        message: "citations[0].char_end must be greater than char_start, which is 40, not 12",
    };
    const RETRY_SAFE: bool = true;

    fn request_examples() -> Vec<Example> {
        examples::citations::requests()
    }

    fn response_example() -> Example {
        examples::citations::response()
    }
}
