//! `Link` headers (RFC 8288), as far as they name the canonical page.

/// Returns the target of the first link with `rel=canonical`.
pub fn canonical(values: &[String]) -> Option<String> {
    values.iter().flat_map(|value| links(value)).find_map(|(target, parameters)| {
        let rel = parameters.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("rel").then(|| value.trim().trim_matches('"'))
        })?;
        rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical")).then(|| target.to_owned())
    })
}

/// Returns targets with their parameters.
fn links(value: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some(start) = rest.find('<') {
        let Some(length) = rest[start..].find('>') else { break };
        let target = &rest[start + 1..start + length];
        rest = &rest[start + length + 1..];
        let end = rest.find('<').unwrap_or(rest.len());
        found.push((target.trim(), rest[..end].trim_end().trim_end_matches(',')));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_link_is_found_among_others() {
        for (value, expected) in [
            ("<https://h/a>; rel=\"canonical\"", Some("https://h/a")),
            ("</style.css>; rel=preload; as=style, </a>; rel=canonical", Some("/a")),
            ("</a>; title=\"x\"; rel=\"prev canonical\"", Some("/a")),
            ("</a>; rel=next", None),
            ("</a", None),
            ("", None),
        ] {
            assert_eq!(canonical(&[value.to_owned()]).as_deref(), expected, "{value}");
        }
    }
}
