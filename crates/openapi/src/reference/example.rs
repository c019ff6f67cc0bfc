//! Example calls and responses.

use serde_json::Value;

use super::markup::{escape, inline};
use super::{entries, text};
use crate::{Call, Language, Spec};

/// Renders the example requests of an operation in every language, the simplest one first.
pub(super) fn calls(operation: &Spec) -> String {
    let render = |call: Call| {
        let blocks: String = Language::ALL
            .into_iter()
            .map(|language| {
                let name = language.name();
                format!(
                    "<div class=\"code\" data-language=\"{name}\"><span class=\"language\">{name}</span>{}</div>\n",
                    block(&call.code(language))
                )
            })
            .collect();
        figure("call", call.summary, &blocks)
    };
    Call::of(operation).into_iter().map(render).collect()
}

/// Renders the examples of a response.
pub(super) fn answers(response: &Value) -> String {
    entries(&response["content"]["application/json"], "examples")
        .map(|(_, example)| {
            let block = block(&format!("{:#}", example["value"]));
            figure("answer", text(example, "summary"), &format!("<div class=\"code\">{block}</div>\n"))
        })
        .collect()
}

fn figure(class: &str, caption: &str, content: &str) -> String {
    format!("<figure class=\"{class}\"><figcaption>{}</figcaption>\n{content}</figure>\n", inline(caption))
}

/// Renders code with its copy button, which the script shows. Long examples scroll in their box, so it must be reachable
/// by keyboard.
fn block(code: &str) -> String {
    format!(
        "<button type=\"button\" class=\"copy\" hidden>Copy</button><pre tabindex=\"0\"><code>{}</code></pre>",
        escape(code)
    )
}
