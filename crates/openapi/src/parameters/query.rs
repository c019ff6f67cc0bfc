use serde_json::{Value, json};

use super::{Parameter, Place};

/// The query parameters of an operation.
pub trait QueryParameters: Sized {
    /// All of them; the server refuses others.
    const PARAMETERS: &'static [Parameter];

    /// Reads the parameters. `get` returns the percent-decoded value of a name; `None` for absent and empty ones.
    fn read<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self;

    /// Names and values of the parameters that are set, not percent-encoded.
    fn pairs(&self) -> Vec<(&'static str, String)>;
}

impl QueryParameters for () {
    const PARAMETERS: &'static [Parameter] = &[];

    fn read<'a>(_: impl Fn(&str) -> Option<&'a str>) -> Self {}

    fn pairs(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// The type of one query parameter.
trait QueryValue {
    fn read(text: Option<&str>) -> Self;
    fn write(&self) -> Option<String>;
}

impl QueryValue for Option<String> {
    fn read(text: Option<&str>) -> Self {
        text.map(str::to_owned)
    }

    fn write(&self) -> Option<String> {
        self.clone()
    }
}

/// A list separated by commas. Blank items are dropped.
impl QueryValue for Vec<String> {
    fn read(text: Option<&str>) -> Self {
        let items = text.unwrap_or_default().split(',').map(str::trim);
        items.filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    fn write(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.join(","))
    }
}

/// Declares a struct of query parameters. Fields are named after their parameters.
macro_rules! query_parameters {
    (
        $(#[$meta:meta])*
        $type:ident { $($name:ident: $value:ty, $description:literal, $schema:expr, example $example:literal;)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, Eq, PartialEq)]
        pub struct $type {
            $(#[doc = $description] pub $name: $value,)+
        }

        impl QueryParameters for $type {
            const PARAMETERS: &'static [Parameter] = &[$(Parameter {
                name: stringify!($name),
                place: Place::Query,
                description: $description,
                schema: $schema,
                example: $example,
            },)+];

            fn read<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
                $type { $($name: QueryValue::read(get(stringify!($name))),)+ }
            }

            fn pairs(&self) -> Vec<(&'static str, String)> {
                let pairs = [$((stringify!($name), QueryValue::write(&self.$name)),)+];
                pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
            }
        }
    };
}

/// The schema of a time in ISO 8601: with an offset, without one, or a day.
fn time_or_empty() -> Value {
    const LONG: &str = r"(0[13578]|1[02])-(0[1-9]|[12]\d|3[01])";
    const SHORT: &str = r"(0[469]|11)-(0[1-9]|[12]\d|30)";
    // Without the leap day, which depends on the year. With an offset it is a date-time.
    const FEBRUARY: &str = r"02-(0[1-9]|1\d|2[0-8])";
    const TIME: &str = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?";
    let without_offset = format!(r"^\d{{4}}-({LONG}|{SHORT}|{FEBRUARY})T{TIME}$");
    json!({
        "type": "string",
        "anyOf": [{"format": "date-time"}, {"pattern": without_offset}, {"format": "date"}, {"const": ""}],
    })
}

query_parameters! {
    /// Window and grouping of a usage overview. Unset parameters take the service's defaults: 30 days, by day.
    UsageQuery {
        from: Option<String>,
            "Start of the window (ISO 8601; UTC unless it has an offset), at most 400 days before its end. Default: 30 \
             days before its end.",
            time_or_empty,
            example "2026-05-01T00:00:00Z";
        to: Option<String>,
            "End of the window (ISO 8601; UTC unless it has an offset). Default: now.",
            time_or_empty,
            example "2026-05-08T00:00:00Z";
        interval: Option<String>,
            "Length of a bucket: `hour` (windows of at most 8 days) or `day`.",
            || json!({"type": "string", "enum": ["", "hour", "day"], "default": "day"}),
            example "day";
        api_key_ids: Vec<String>,
            "Ids of the keys to count, separated by commas; at most 50. Default: all credentials.",
            || json!({"type": "array", "items": {"type": "string", "format": "uuid"}, "maxItems": 50}),
            example "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10";
        group_by: Option<String>,
            "Grouping of the request series: `none`, `api_key`, `endpoint` or `status_class`.",
            || json!({
                "type": "string",
                "enum": ["", "none", "api_key", "endpoint", "status_class"],
                "default": "none",
            }),
            example "endpoint";
    }
}

query_parameters! {
    /// Place and size of a page of a list.
    PageQuery {
        cursor: Option<String>,
            "`next_cursor` of the previous page. A file that is added or deleted meanwhile neither shifts nor repeats others.",
            || json!({"type": "string"}),
            example "ZmFubnVhbC1yZXBvcnQucGRmQTCa3w";
        limit: Option<String>,
            "Maximum number of files of the page. Default: 100.",
            || json!({"type": "integer", "minimum": 1, "maximum": 1000}),
            example "100";
    }
}

query_parameters! {
    /// Place, size and filter of a page of research runs.
    ResearchListQuery {
        status: Option<String>,
            "Return only runs of this status.",
            || json!({"type": "string", "enum": ["", "queued", "running", "completed", "failed", "cancelled"]}),
            example "completed";
        cursor: Option<String>,
            "`next_cursor` of the previous page. A run that is created or deleted meanwhile neither shifts nor repeats others.",
            || json!({"type": "string"}),
            example "1781524800000_0190a6d4-0b7e-7d51-8a36-5e2f9c1d7b80";
        limit: Option<String>,
            "Maximum number of runs of the page. Default: 20.",
            || json!({"type": "integer", "minimum": 1, "maximum": 100}),
            example "20";
    }
}

query_parameters! {
    /// Wait for the end of a research run.
    ResearchQuery {
        wait_seconds: Option<String>,
            "Seconds to wait for the end of the run before the response. Default: 0.",
            || json!({"type": "integer", "minimum": 0, "maximum": 30}),
            example "30";
    }
}

query_parameters! {
    /// Place and size of a page of events.
    ResearchEventsQuery {
        after: Option<String>,
            "Sequence of the event before the first one of the page. Default: 0. In a stream the header `Last-Event-ID` takes \
             precedence.",
            || json!({"type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_i64}),
            example "4";
        limit: Option<String>,
            "Maximum number of events of the page. Default: 100. It does not apply to a stream.",
            || json!({"type": "integer", "minimum": 1, "maximum": 1000}),
            example "100";
    }
}

query_parameters! {
    /// Extent of the removal of a crawl.
    CrawlDeleteQuery {
        pages: Option<String>,
            "Remove pages that no other crawl lists as well. Default: `false`.",
            || json!({"type": "string", "enum": ["", "true", "false"], "default": "false"}),
            example "true";
    }
}

query_parameters! {
    /// Selection, place and size of a page of the list of pages.
    WebPagesQuery {
        host: Option<String>,
            "Host of the pages, with its port unless that is the scheme's.",
            || json!({"type": "string", "maxLength": 300}),
            example "docs.example.com";
        prefix: Option<String>,
            "Beginning of the canonical URLs, with `http://` or `https://`.",
            || json!({"type": "string", "maxLength": 2048}),
            example "https://docs.example.com/guide/";
        cursor: Option<String>,
            "`next_cursor` of the previous page.",
            || json!({"type": "string"}),
            example "dzdkOGY0YTBlLTJmMGMtNWQ4Yi05YTYxLTBlMWMzYjVhN2Y0Mvv2FLM";
        limit: Option<String>,
            "Maximum number of entries of the page. Default: 100.",
            || json!({"type": "integer", "minimum": 1, "maximum": 1000}),
            example "100";
    }
}

query_parameters! {
    /// Detail of the statistics.
    WebStatsQuery {
        limit: Option<String>,
            "Maximum number of hosts to name. Default: 20.",
            || json!({"type": "integer", "minimum": 1, "maximum": 1000}),
            example "20";
    }
}

#[cfg(test)]
mod tests {
    use super::{QueryParameters, UsageQuery};

    #[test]
    fn pairs_round_trip() {
        let query = UsageQuery {
            from: Some("2026-05-01".to_owned()),
            api_key_ids: vec!["a".to_owned(), "b".to_owned()],
            ..UsageQuery::default()
        };
        let pairs = query.pairs();
        assert_eq!(pairs, [("from", "2026-05-01".to_owned()), ("api_key_ids", "a,b".to_owned())]);
        let get = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        assert_eq!(UsageQuery::read(get), query);
    }
}
