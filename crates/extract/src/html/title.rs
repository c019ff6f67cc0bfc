//! Page titles without the name of their site.

/// Separators between a page's title and its site's name.
const SEPARATORS: [&str; 10] = [" | ", " - ", " – ", " — ", " · ", " • ", " » ", " :: ", " / ", ": "];

/// Heading that may be the headline of a page.
pub(super) struct Headline {
    pub text: String,
    /// Set for a heading that may be the logo of the site.
    pub may_be_logo: bool,
    /// Set for a heading of the second level. It is the headline only below a logo.
    pub is_section: bool,
}

/// Removes the site's name from the start or end of a title. The name is known from metadata; otherwise the part that
/// equals a headline of the page is kept.
pub(super) fn without_site(title: String, site: Option<&str>, headlines: impl Fn() -> Vec<Headline>) -> String {
    let splits = || {
        SEPARATORS.iter().flat_map(|separator| {
            let ends = [title.rsplit_once(separator), title.split_once(separator)];
            ends.into_iter().flatten().map(|(one, other)| (*separator, one.trim(), other.trim()))
        })
    };
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let by_site = site.and_then(|site| {
        let mut parts = splits().flat_map(|(_, one, other)| [(one, other), (other, one)]);
        parts.find(|(own, name)| !own.is_empty() && same(name, site)).map(|(own, _)| own)
    });
    let by_headline = || {
        let (sections, titles): (Vec<Headline>, Vec<Headline>) =
            headlines().into_iter().partition(|headline| headline.is_section);
        let own = |part: &str| titles.iter().any(|headline| same(part, &headline.text));
        let surely_own = |part: &str| titles.iter().any(|line| !line.may_be_logo && same(part, &line.text));
        let below_logo = |(separator, first, last): &(&str, &str, &str)| {
            let is_logo = |title: &Headline| title.may_be_logo || same(last, &title.text);
            *separator != ": "
                && titles.first().is_some_and(is_logo)
                && sections.iter().any(|section| same(first, &section.text))
        };
        let first = |accepted: &dyn Fn(&(&str, &str, &str)) -> bool| splits().find(accepted).map(|(_, first, _)| first);
        let last = |accepted: &dyn Fn(&(&str, &str, &str)) -> bool| splits().find(accepted).map(|(_, _, last)| last);
        // Behind most separators the site's name is the last part, and so a logo is that name, not the headline.
        first(&|(_, first, _)| surely_own(first))
            .or_else(|| first(&below_logo))
            .or_else(|| last(&|(_, _, last)| surely_own(last)))
            .or_else(|| first(&|(_, first, _)| own(first)))
            .or_else(|| last(&|(separator, _, last)| *separator == ": " && own(last)))
    };
    by_site.or_else(by_headline).map_or_else(|| title.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, may_be_logo: bool) -> Headline {
        Headline { text: text.to_owned(), may_be_logo, is_section: false }
    }

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
            let headlines = || headline.map(|text| line(text, false)).into_iter().collect();
            let read = without_site(title.to_owned(), site, headlines);
            assert_eq!(read.to_lowercase(), expected.to_lowercase(), "{title}");
        }
    }

    #[test]
    fn logo_is_not_taken_for_the_headline() {
        for (title, logo, headline, expected) in [
            ("Fords - The River Book", "The River Book", "Fords", "Fords"),
            ("Fords - The River Book", "The River Book", "2.1 Fords", "Fords - The River Book"),
            ("The River Book: Fords", "The Book", "Fords", "Fords"),
            ("The River Book: Fords", "Fords", "Banks", "Fords"),
            ("Fords | Rivers | Example", "Example", "Fords", "Fords"),
            ("Fords – Example", "Fords", "Banks", "Fords"),
        ] {
            let read = without_site(title.to_owned(), None, || vec![line(logo, true), line(headline, false)]);
            assert_eq!(read, expected, "{title}");
        }
    }
}
