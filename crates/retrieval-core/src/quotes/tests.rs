use proptest::prelude::*;

use super::*;

fn whole(text: &str) -> Vec<Piece> {
    vec![Piece { text: text.to_owned(), char_start: 0 }]
}

fn quote(text: &str, start: impl Into<Option<usize>>) -> Quote<'_> {
    Quote { text, start: start.into(), end: None }
}

/// Applies the replacements to the quote.
fn applied(quote: &str, nearest: &Nearest) -> String {
    let mut text = String::new();
    let mut at = 0;
    for Replacement { start, removed, added } in &nearest.replacements {
        text.push_str(chars::slice(quote, at, start - at).0);
        let (old, length) = chars::slice(quote, *start, chars::count(removed));
        assert_eq!(old, removed);
        text.push_str(added);
        at = start + length;
    }
    text.push_str(chars::slice(quote, at, usize::MAX).0);
    text
}

fn changed(quote: &str, content: &str) -> Nearest {
    let Comparison::Changed(nearest) = compare(&super::Quote { text: quote, start: None, end: None }, &whole(content))
    else {
        panic!("not changed: {quote}");
    };
    assert_eq!(applied(quote, &nearest), nearest.text);
    assert_eq!(chars::slice(content, nearest.chars.start, nearest.chars.len()).0, nearest.text);
    nearest
}

#[test]
fn quote_is_found_at_its_place_or_nearest_to_it() {
    let content = whole("añ b. añ b.");
    assert_eq!(compare(&quote("añ", 6), &content), Comparison::Exact(6..8));
    assert_eq!(compare(&quote("añ", 5), &content), Comparison::Moved(6..8));
    assert_eq!(compare(&quote("añ", 1), &content), Comparison::Moved(0..2));
    assert_eq!(compare(&quote("b", None), &content), Comparison::Exact(3..4), "without a place any is right");
    assert_eq!(compare(&quote("añ", usize::MAX), &content), Comparison::Moved(6..8));
    let ended = |start, end| compare(&Quote { text: "añ", start, end: Some(end) }, &content);
    assert_eq!(ended(Some(6), 8), Comparison::Exact(6..8));
    assert_eq!(ended(None, 8), Comparison::Exact(6..8));
    assert_eq!(ended(Some(6), 9), Comparison::Moved(6..8));
    assert_eq!(ended(None, usize::MAX), Comparison::Moved(6..8));
    assert_eq!(compare(&quote("", 0), &content), Comparison::Missing);
}

#[test]
fn quotes_may_leave_out_escapes() {
    let content = whole("é The \\<table> is 10\\*20*30. C:\\x The <table> is 10*20*30.");
    assert_eq!(compare(&quote("<table> is 10*20", None), &content), Comparison::Exact(38..54), "first verbatim");
    let content = whole("é The \\<table> is 10\\*20*30. C:\\x \\\\y The \\<table> is 10\\*20.");
    assert_eq!(compare(&quote("The <table> is 10*20", None), &content), Comparison::Exact(2..24));
    assert_eq!(compare(&quote("<table> is 10*20", 7), &content), Comparison::Exact(7..24));
    assert_eq!(compare(&quote("<table> is 10*20", 60), &content), Comparison::Moved(43..60));
    assert_eq!(compare(&quote("C:\\x \\y", None), &content), Comparison::Exact(29..37));
    assert_eq!(compare(&quote("\\<table>", 6), &content), Comparison::Exact(6..14));
    assert!(matches!(compare(&quote("The <table> is 11*20", None), &content), Comparison::Changed(_)));
}

#[test]
fn places_are_those_of_the_whole_content() {
    let pieces =
        [Piece { text: "one two".to_owned(), char_start: 10 }, Piece { text: "two three".to_owned(), char_start: 50 }];
    assert_eq!(compare(&quote("two", None), &pieces), Comparison::Exact(14..17));
    assert_eq!(compare(&quote("two", 50), &pieces), Comparison::Exact(50..53));
    assert_eq!(compare(&quote("two", 33), &pieces), Comparison::Moved(50..53));
    let Comparison::Changed(nearest) = compare(&quote("two thrue", None), &pieces) else { panic!() };
    assert_eq!((nearest.chars, nearest.text.as_str()), (50..59, "two three"));
}

#[test]
fn changed_quote_has_the_nearest_text_and_the_difference() {
    let content = "The pump is old. The pump takes 2.5 l of grease, once a year. The end.";
    let nearest = changed("The pump takes 2.4 l of grease, once a year.", content);
    assert_eq!((nearest.text.as_str(), nearest.chars), ("The pump takes 2.5 l of grease, once a year.", 17..61));
    let replacement = Replacement { start: 17, removed: "4".to_owned(), added: "5".to_owned() };
    assert_eq!(nearest.replacements, [replacement]);
    for (quote, text) in [
        ("the pump takes 2.5 l of grease", "The pump takes 2.5 l of grease"),
        ("pump takes 2.5 l of fat", "pump takes 2.5 l of grease"),
        ("pump usually takes 2.5 l of grease", "pump takes 2.5 l of grease"),
        ("takes 2.5 l grease, once", "takes 2.5 l of grease, once"),
        ("2.5 kg", "2.5 l"),
    ] {
        assert_eq!(changed(quote, content).text, text);
    }
}

#[test]
fn scripts_without_spaces_and_combining_characters_are_compared() {
    assert_eq!(
        changed("東京都の人口は千四百万人", "日本。東京都の人口は千三百万人です。").text,
        "東京都の人口は千三百万人"
    );
    let nearest = changed("the cafe\u{301} is open on Sunday", "Note: the caf\u{e9} is open on Sunday.");
    assert_eq!(nearest.text, "the caf\u{e9} is open on Sunday");
}

#[test]
fn unrelated_content_has_no_nearest_text() {
    let content = "Bicycles must have two brakes that work independently, and a bell that can be heard.";
    assert_eq!(
        compare(&quote("The grease of the pump is renewed in May.", None), &whole(content)),
        Comparison::Missing
    );
    assert_eq!(compare(&quote("x", None), &whole("")), Comparison::Missing);
    assert_eq!(compare(&quote("x", None), &[]), Comparison::Missing);
}

#[test]
fn long_quotes_are_compared_in_bounded_time() {
    let long: String = (0..2_000).map(|number| format!("{number} ")).collect();
    let content = format!("{}{}{}", "a b ".repeat(20_000), long.replace("999 ", "x "), "b a ".repeat(20_000));
    let nearest = changed(&long, &content);
    assert!(nearest.text.len() >= long.len() - 10 && nearest.replacements.len() <= MAX_REPLACEMENTS);
    let same = "a".repeat(8_192);
    assert_eq!(changed(&format!("{same}b"), &"a".repeat(200_000)).replacements.len(), 1);
    let different: String = (0..600).map(|number| format!("word{number} kept ")).collect();
    assert!(changed(&different, &different.replace("word", "term")).replacements.len() <= MAX_REPLACEMENTS);
}

proptest! {
    #[test]
    fn difference_turns_the_quote_into_the_nearest_text(
        before in "[ab c.ñ]{0,40}",
        quote in "[ab c.ñ]{1,40}",
        other in "[ab c.ñ]{0,60}",
        start in 0usize..100,
    ) {
        let content = format!("{before}{other}");
        let pieces = whole(&content);
        match compare(&super::Quote { text: &quote, start: Some(start), end: None }, &pieces) {
            Comparison::Exact(chars) => prop_assert_eq!(chars.start, start),
            Comparison::Moved(chars) => prop_assert_eq!(chars::slice(&content, chars.start, chars.len()).0, quote.as_str()),
            Comparison::Changed(nearest) => {
                prop_assert_eq!(applied(&quote, &nearest), nearest.text.clone());
                prop_assert_eq!(chars::slice(&content, nearest.chars.start, nearest.chars.len()).0, nearest.text.as_str());
                prop_assert!(!content.contains(&quote));
            }
            Comparison::Missing => prop_assert!(!content.contains(&quote)),
        }
    }
}
