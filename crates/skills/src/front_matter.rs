//! The fields at the head of a skill.

/// The value of `name: value` between the two lines of dashes that a text begins with.
pub fn field<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let head = source.strip_prefix("---\n")?.split("\n---\n").next()?;
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_those_of_the_head() {
        let source = "---\nname: a\nnames: b\n---\n\nother: c\n";
        assert_eq!((field(source, "name"), field(source, "other"), field("name: a", "name")), (Some("a"), None, None));
    }
}
