use proptest::prelude::*;
use url::{Position, Url};

use super::*;

fn rules(text: &str) -> Rules {
    Rules::parse(text.as_bytes(), "ExampleBot")
}

/// Asserts that a wildcard group with these lines allows `path` or not.
fn check(lines: &str, path: &str, expected: bool) {
    assert_eq!(rules(&format!("User-agent: *\n{lines}")).allows(path), expected, "{lines:?} for {path}");
}

#[test]
fn files_without_rules_allow_everything() {
    for text in ["", "\n\n", "hello", "<html><body>404: no such page</body>", "Disallow: /", "User-agent: *\nDisallow:"]
    {
        assert!(rules(text).allows("/a"), "{text:?}");
    }
    assert!(Rules::parse(b"\xff\xfe\0\0:::\n\x80:\x81", "ExampleBot").allows("/"));
}

#[test]
fn only_the_group_of_our_token_applies() {
    let text = "User-agent: *\nDisallow: /\n\nUser-agent: otherbot\nuser-agent: EXAMPLEBOT/2.0\nAllow: /\nDisallow: /x\n\
                User-Agent: examplebotnews\nDisallow: /y\nUser-agent: example\nDisallow: /z";
    assert!(rules(text).allows("/a"));
    assert!(!rules(text).allows("/x"));
    assert!(rules(text).allows("/y"));
    assert!(rules(text).allows("/z"));
    assert!(!Rules::parse(text.as_bytes(), "another").allows("/a"));
}

#[test]
fn groups_with_the_same_token_are_merged() {
    let text =
        "User-agent: ExampleBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nDisallow: /b";
    assert!(!rules(text).allows("/a"));
    assert!(!rules(text).allows("/b"));
    assert!(rules(text).allows("/c"));
}

#[test]
fn a_matching_group_without_rules_allows_everything() {
    assert!(
        rules("User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nSitemap: https://example.com/s.xml").allows("/a")
    );
    assert!(rules("User-agent: *\nDisallow: /\nUser-agent: ExampleBot\nDisallow:\n").allows("/a"));
}

#[test]
fn unknown_lines_do_not_end_the_agent_lines_of_a_group() {
    let text = "User-agent: ExampleBot\n# note\nSitemap: https://example.com/s.xml\n\nUser-agent: other\nDisallow: /x";
    assert!(!rules(text).allows("/x"));
}

#[test]
fn the_longest_match_decides_and_allow_wins_a_tie() {
    check("Allow: /p\nDisallow: /", "/page", true);
    check("Disallow: /\nAllow: /p", "/page", true);
    check("Allow: /folder\nDisallow: /folder", "/folder/page", true);
    check("Allow: /page\nDisallow: /*.htm", "/page.htm", false);
    check("Allow: /page\nDisallow: /*.ph", "/page.php5", true);
    check("Allow: /$\nDisallow: /", "/", true);
    check("Allow: /$\nDisallow: /", "/page.htm", false);
    check("Disallow: /a/b\nAllow: /a", "/a/b/c", false);
    check("Disallow: /\nAllow:", "/a", false);
    check("Disallow: /\nDisallow:", "/a", false);
}

#[test]
fn patterns_match_as_specified() {
    for (pattern, matching, others) in [
        ("/", &["/", "/any"][..], &[][..]),
        ("/fish", &["/fish", "/fish.html", "/fishheads/y", "/fish?id=1"], &["/Fish.asp", "/catfish", "/?id=fish"]),
        ("/fish*", &["/fish", "/fishheads"], &["/Fish", "/catfish"]),
        ("/fish/", &["/fish/", "/fish/?id=1"], &["/fish", "/fish.html"]),
        ("fish", &["/fish"], &["/catfish"]),
        ("/*.php", &["/index.php", "/a/b.php?c", "/x.php/"], &["/", "/x.PHP"]),
        ("/*.php$", &["/filename.php", "/a.php/b.php"], &["/filename.php?x", "/filename.php/", "/x.php5"]),
        ("/fish*.php", &["/fish.php", "/fishheads/x.php?y"], &["/Fish.PHP"]),
        ("*/x", &["/x", "/a/x"], &["/ax"]),
        ("**a**", &["/a", "/ba"], &["/b"]),
        ("/a*b*c$", &["/abc", "/a1b2c", "/abcbc"], &["/ac", "/abcd"]),
        ("/ab*ab$", &["/abab", "/abxab"], &["/ab"]),
        ("/a$b", &["/a$b"], &["/a"]),
        ("/$", &["/"], &["/a"]),
        ("/*?", &["/a?b"], &["/a"]),
    ] {
        for path in matching {
            check(&format!("Disallow: {pattern}"), path, false);
        }
        for path in others {
            check(&format!("Disallow: {pattern}"), path, true);
        }
    }
}

#[test]
fn equivalent_percent_encodings_match() {
    for (pattern, path) in [
        ("/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/b%61r/baz"),
        ("/~joe", "/%7Ejoe"),
        ("/a%3cd", "/a%3Cd"),
        ("/a%2Ab", "/a*b"),
        ("/a%24", "/a$"),
        ("/100%", "/100%"),
    ] {
        check(&format!("Disallow: {pattern}"), path, false);
    }
    check("Disallow: /a%2fb", "/a/b", true);
    check("Disallow: /a%2Ab", "/axb", true);
    check("Disallow: /a%3Bb", "/a;b", true);
}

#[test]
fn bytes_that_urls_encode_match_in_either_spelling() {
    for (pattern, link) in [
        ("/*{{", "/a/{{x}}"),
        ("/{a}", "/%7ba%7d"),
        ("/%7Ba%7D", "/{a}/b"),
        ("/*?q={", "/s?q={x}"),
        ("/*?q=%7B", "/s?q={x}"),
        ("/*?q='", "/s?q='a'"),
        ("/*?q=%27", "/s?q='a'"),
        ("/it's", "/it's"),
        ("/it's", "/it%27s"),
        ("/<a>\"", "/<a>\""),
        ("/*?<a>\"", "/?<a>\""),
        ("/a`b$", "/a`b"),
        ("/a|b", "/a|b"),
        ("/a|b", "/a%7Cb"),
        ("/a%7Cb", "/a|b"),
        ("/a^b", "/a%5Eb"),
        ("/a\\b", "/a%5cb"),
        ("/*?a\\", "/?a\\b"),
    ] {
        let url = Url::parse(&format!("https://h{link}")).expect("a URL");
        check(&format!("Disallow: {pattern}"), &url[Position::BeforePath..], false);
    }
    check("Disallow: /*{{", "/a/%7Bx", true);
}

#[test]
fn lines_are_parsed_regardless_of_case_spacing_and_line_ends() {
    for lines in [
        "disallow:/x",
        "  DISALLOW :  /x  # why",
        "Disallow: /x\r",
        "Disallow: /y\rDisallow: /x",
        "Noise\nDisallow: /x#y",
    ] {
        check(lines, "/x", false);
    }
    let marked = Rules::parse(b"\xef\xbb\xbfUser-agent:*\r\nDisallow:/", "ExampleBot");
    assert!(!marked.allows("/x"));
    assert!(marked.allows("/robots.txt"));
}

#[test]
fn crawl_delay_comes_from_the_matching_group() {
    let text = "User-agent: *\nCrawl-delay: 5\n\nUser-agent: ExampleBot\ncrawl-delay: 0.5\nDisallow: /x";
    assert_eq!(rules(text).crawl_delay, Some(Duration::from_millis(500)));
    assert_eq!(Rules::parse(text.as_bytes(), "other").crawl_delay, Some(Duration::from_secs(5)));
    for value in ["-1", "NaN", "inf", "1e300", "soon", ""] {
        assert_eq!(rules(&format!("User-agent: *\nCrawl-delay: {value}")).crawl_delay, None, "{value}");
    }
}

/// Reference implementation: backtracking matcher.
fn matches_slowly(pattern: &[u8], path: &[u8], is_anchored: bool) -> bool {
    match (pattern, path) {
        ([], rest) => !is_anchored || rest.is_empty(),
        ([b'*', after @ ..], rest) => (0..=rest.len()).any(|at| matches_slowly(after, &rest[at..], is_anchored)),
        ([a, after @ ..], [b, rest @ ..]) => a == b && matches_slowly(after, rest, is_anchored),
        (_, []) => false,
    }
}

proptest! {
    #[test]
    fn greedy_matching_agrees_with_backtracking(pattern in "/[ab*]{0,8}", path in "/[ab]{0,10}", is_anchored: bool) {
        let expected = matches_slowly(pattern.as_bytes(), path.as_bytes(), is_anchored);
        let rule = Rule { allow: false, pattern, is_anchored };
        prop_assert_eq!(rule.matches(&path), expected);
    }

    #[test]
    fn nothing_panics(text in prop::collection::vec(any::<u8>(), 0..300), path in ".{0,40}") {
        let text = [b"User-agent: *\nDisallow: ".as_slice(), &text].concat();
        let _ = Rules::parse(&text, "ExampleBot").allows(&path);
    }
}

#[test]
fn rules_without_wildcards_are_limited_by_the_length_of_the_file_only() {
    let many: String = (0..20_000).map(|number| format!("Disallow: /n{number}\n")).collect();
    let rules = rules(&format!("User-agent: *\n{many}Disallow: /x\n"));
    assert!(!rules.allows("/x") && !rules.allows("/n19999"));
    assert!(rules.allows("/y") && !rules.is_truncated);
}

#[test]
fn the_number_of_wildcards_is_limited() {
    let with = |rest: &str| rules(&format!("User-agent: *\n{}{rest}", "Disallow: *a*b\n".repeat(MAX_WILDCARDS)));
    let full = with("Disallow: /x\n");
    assert_eq!(full.rules.len(), MAX_WILDCARDS + 1);
    assert!(full.weight() >= MAX_WILDCARDS * "*a*b".len());
    assert!(!full.allows("/x") && !full.is_truncated);
    let beyond = with("Allow: /late/*.txt\nDisallow: /late/*.pdf$\nAllow: /late/open\n");
    assert_eq!(beyond.rules.len(), MAX_WILDCARDS + 2);
    assert!(beyond.is_truncated);
    for (path, expected) in [("/late/x.pdf", false), ("/late/x.txt", false), ("/late/open", true), ("/x", true)] {
        assert_eq!(beyond.allows(path), expected, "{path}");
    }
    assert!(!with("Disallow: *.pdf\n").allows("/x"), "nothing is known of the path");
}

#[test]
fn rules_beyond_the_limit_matter_in_their_group_only() {
    let many = "Disallow: /*a*b\n".repeat(MAX_WILDCARDS + 1);
    let rules = rules(&format!("User-agent: *\n{many}User-agent: ExampleBot\nDisallow: /x\n"));
    assert!(rules.allows("/y") && !rules.allows("/x") && !rules.is_truncated);
}

#[test]
fn sitemaps_belong_to_no_group() {
    let text = b"Sitemap: https://a.example/one.xml\nUser-agent: other\nDisallow: /\nSITEMAP : https://b.example/two.xml # more\n\
        User-agent: *\nDisallow: /private";
    let rules = Rules::parse(text, "example-bot");
    assert_eq!(rules.sitemaps, ["https://a.example/one.xml", "https://b.example/two.xml"]);
    assert!(rules.allows("/a") && !rules.allows("/private"));
}

#[test]
fn sitemaps_are_bounded() {
    let text = format!("Sitemap: https://a.example/{}\n", "x".repeat(3_000))
        + &"Sitemap: https://a.example/s.xml\n".repeat(1_000);
    assert_eq!(Rules::parse(text.as_bytes(), "example-bot").sitemaps.len(), 100);
}
