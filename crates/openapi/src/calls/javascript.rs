use super::{Call, KEY_VARIABLE, indented};
use crate::base_url::PLACEHOLDER;

pub(super) fn code(call: &Call) -> String {
    let Call { method, target, body, .. } = call;
    let method = match method.as_str() {
        "GET" => String::new(),
        other => format!("  method: \"{other}\",\n"),
    };
    let authorization = format!("Authorization: `Bearer ${{process.env.{KEY_VARIABLE}}}`");
    let rest = match body {
        None => format!("  headers: {{ {authorization} }},\n"),
        // JSON is JavaScript (ECMA-262, 2019 edition).
        Some(body) => format!(
            "  headers: {{\n    {authorization},\n    \"Content-Type\": \"application/json\",\n  }},\n  body: \
             JSON.stringify({}),\n",
            indented(&format!("{body:#}"), 2)
        ),
    };
    format!(
        "const response = await fetch(\"{PLACEHOLDER}{target}\", {{\n{method}{rest}}});\n\
         if (!response.ok) throw new Error(await response.text());\n\
         console.log(await response.json());"
    )
}
