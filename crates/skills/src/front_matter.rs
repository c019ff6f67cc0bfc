//! Front matter of skills.

/// Returns the value of `name: value` in the front matter between two `---` lines.
pub fn field<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let head = source.strip_prefix("---\n")?.split("\n---\n").next()?;
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_read_from_front_matter_only() {
        let source = "---\nname: a\nnames: b\n---\n\nother: c\n";
        assert_eq!((field(source, "name"), field(source, "other"), field("name: a", "name")), (Some("a"), None, None));
    }
}
