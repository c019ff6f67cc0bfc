//! Page titles without the name of their site.

/// Separators between a page's title and its site's name.
const SEPARATORS: [&str; 10] = [" | ", " - ", " – ", " — ", " · ", " • ", " » ", " :: ", " / ", ": "];

/// Removes the site's name from the start or end of a title. The name is known from metadata; otherwise the part that
/// equals the page's headline is kept.
pub(super) fn without_site(title: String, site: Option<&str>, headline: impl Fn() -> Option<String>) -> String {
    let parts = || {
        SEPARATORS.iter().flat_map(|separator| {
            let ends = [title.rsplit_once(separator), title.split_once(separator)];
            ends.into_iter().flatten().flat_map(|(one, other)| [(one.trim(), other.trim()), (other.trim(), one.trim())])
        })
    };
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let by_site = site.and_then(|site| parts().find(|(own, name)| !own.is_empty() && same(name, site)));
    let by_headline = || {
        let headline = headline()?;
        parts().find(|(own, _)| same(own, &headline))
    };
    by_site.or_else(by_headline).map_or_else(|| title.clone(), |(own, _)| own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_name_is_removed_from_titles() {
        for (title, site, headline, expected) in [
            ("The ford | Example", Some("example"), None, "The ford"),
            ("Example: The ford", Some("Example"), None, "The ford"),
            ("The ford - a history - Example", Some("Example"), None, "The ford - a history"),
            ("The ford - a history", None, Some("Welcome"), "The ford - a history"),
            ("The ford · ACME", None, Some("the ford"), "the ford"),
            ("Example", Some("Example"), None, "Example"),
            (" | Example", Some("Example"), None, " | Example"),
        ] {
            let read = without_site(title.to_owned(), site, || headline.map(str::to_owned));
            assert_eq!(read.to_lowercase(), expected.to_lowercase(), "{title}");
        }
    }
}
