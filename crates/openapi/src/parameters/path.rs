use serde_json::json;

use super::{Parameter, Place};

/// The values of a path template's placeholders.
pub trait PathParameters: Sized {
    /// The placeholders, in the order of the path.
    const PARAMETERS: &'static [Parameter];

    /// Reads percent-decoded values, in the order of the placeholders.
    ///
    /// # Errors
    /// A value that breaks a rule of its parameter.
    fn read(values: Vec<String>) -> Result<Self, Invalid>;

    /// The values, in the order of the placeholders, not percent-encoded.
    fn values(&self) -> Vec<&str>;
}

/// A parameter value that breaks a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Invalid {
    /// The parameter's name.
    pub field: &'static str,
    /// A sentence that starts with the name.
    pub message: String,
}

impl PathParameters for () {
    const PARAMETERS: &'static [Parameter] = &[];

    fn read(_: Vec<String>) -> Result<Self, Invalid> {
        Ok(())
    }

    fn values(&self) -> Vec<&str> {
        Vec::new()
    }
}

/// Declares a path parameter that is text of at most `max` characters.
macro_rules! text_parameter {
    ($type:ident: $name:literal, max $max:literal, example $example:literal, $description:literal) => {
        #[doc = $description]
        #[derive(Clone, Debug, Eq, PartialEq)]
        pub struct $type(pub String);

        impl PathParameters for $type {
            const PARAMETERS: &'static [Parameter] = &[Parameter {
                name: $name,
                place: Place::Path,
                description: $description,
                schema: || json!({"type": "string", "minLength": 1, "maxLength": $max}),
                example: $example,
            }];

            fn read(values: Vec<String>) -> Result<Self, Invalid> {
                let value = values.into_iter().next().unwrap_or_default();
                if value.chars().count() > $max {
                    return Err(Invalid {
                        field: $name,
                        message: format!("{} must have at most {} characters", $name, $max),
                    });
                }
                Ok($type(value))
            }

            fn values(&self) -> Vec<&str> {
                vec![&self.0]
            }
        }
    };
}

text_parameter! {
    FileName: "name", max 512, example "quarterly-report.pdf",
    "Name of the file as listed, percent-encoded in UTF-8; raw characters outside ASCII are not valid HTTP."
}

text_parameter! {
    SyncId: "sync_id", max 128, example "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d",
    "The `sync_id` of the started run."
}

text_parameter! {
    ApiKeyId: "api_key_id", max 128, example "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10",
    "The `api_key_id` of the key."
}

text_parameter! {
    WebhookId: "webhook_id", max 128, example "3f8a2c10-5b7d-4e21-9c46-7d1e0b9a6f52",
    "The `webhook_id` of the webhook."
}

text_parameter! {
    SearchId: "search_id", max 128, example "0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90",
    "The `search_id` of the response."
}

text_parameter! {
    ResearchId: "research_id", max 128, example "0190a6d4-0b7e-7d51-8a36-5e2f9c1d7b80",
    "The `research_id` of the run."
}

text_parameter! {
    CrawlName: "name", max 200, example "docs.example.com",
    "Name of the crawl, percent-encoded."
}
