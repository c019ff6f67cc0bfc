use serde_json::Value;

use super::{Call, KEY_VARIABLE};
use crate::base_url::PLACEHOLDER;

pub(super) fn code(call: &Call) -> String {
    let Call { method, target, body, .. } = call;
    let body = body.as_ref().map(|body| format!("    json={},\n", literal(body, 4))).unwrap_or_default();
    format!(
        "import os\n\nimport requests\n\nresponse = requests.{}(\n    \"{PLACEHOLDER}{target}\",\n    \
         headers={{\"Authorization\": f\"Bearer {{os.environ['{KEY_VARIABLE}']}}\"}},\n{body})\n\
         response.raise_for_status()\nprint(response.json())",
        method.as_str().to_lowercase()
    )
}

/// Writes a JSON value as a Python literal, below an indentation. The escapes of JSON strings are Python's, too.
fn literal(value: &Value, indentation: usize) -> String {
    let inner = indentation + 4;
    let block = |open, items: Vec<String>, close| match items.is_empty() {
        true => format!("{open}{close}"),
        false => {
            format!("{open}\n{:inner$}{},\n{:indentation$}{close}", "", items.join(&format!(",\n{:inner$}", "")), "")
        }
    };
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => block('[', items.iter().map(|item| literal(item, inner)).collect(), ']'),
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| format!("{}: {}", Value::from(name.as_str()), literal(value, inner));
            block('{', fields.iter().map(field).collect(), '}')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::literal;
    use serde_json::json;

    #[test]
    fn literals_are_python() {
        assert_eq!(
            literal(&json!({"a": null, "b": [true, 1.5], "c": {}}), 0),
            "{\n    \"a\": None,\n    \"b\": [\n        True,\n        1.5,\n    ],\n    \"c\": {},\n}"
        );
        assert_eq!(literal(&json!("it's \"x\"\n\u{1}ü"), 4), r#""it's \"x\"\n\u0001ü""#);
    }
}
