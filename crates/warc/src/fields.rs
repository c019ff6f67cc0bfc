/// Named fields of WARC and HTTP headers, in order. Names are case-insensitive.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses lines of `name: value`. A line that begins with white space continues the previous value (folding: RFC
    /// 2616, 2.2; WARC 1.1, 4). Malformed lines are skipped, because archives contain what servers sent. Invalid UTF-8
    /// becomes replacement characters.
    pub fn parse(header: &[u8]) -> Self {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in header.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            if line.starts_with([' ', '\t']) {
                let rest = line.trim();
                if let Some((_, value)) = fields.last_mut().filter(|_| !rest.is_empty()) {
                    value.push(' ');
                    value.push_str(rest);
                }
            } else if let Some((name, value)) = line.split_once(':') {
                fields.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        Self(fields)
    }

    /// Returns the first value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns all values of a field, in order.
    pub fn all(&self, name: &str) -> impl DoubleEndedIterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn names_are_case_insensitive_and_folded_lines_are_joined() {
        let fields =
            Fields::parse(b"WARC-Type: response\r\nX: one\r\n\ttwo\r\n  three \r\nno field\r\nx:four:five\r\n");
        assert_eq!(fields.get("warc-type"), Some("response"));
        assert_eq!(fields.all("X").collect::<Vec<_>>(), ["one two three", "four:five"]);
        assert_eq!(fields.get("no field"), None);
        assert_eq!(Fields::parse(b" folded into nothing\n"), Fields::default());
    }
}
