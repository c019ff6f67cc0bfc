#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn check(input: &str, expected: &str) {
    let url = CanonicalUrl::parse(input).unwrap_or_else(|error| panic!("{input}: {error}"));
    assert_eq!(url.as_str(), expected, "{input}");
    assert_eq!(CanonicalUrl::parse(expected).unwrap(), url, "{input}: not stable");
}

#[test]
fn equivalent_spellings_have_one_canonical_form() {
    for (input, expected) in [
        ("HTTP://Example.COM", "http://example.com/"),
        ("  https://example.com:443/a \n", "https://example.com/a"),
        ("http://example.com:80", "http://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://example.com./x", "https://example.com/x"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://BÜCHER.example", "https://xn--bcher-kva.example/"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        ("https://example.com/a/%2E%2e/b", "https://example.com/b"),
        ("https://example.com/../../x", "https://example.com/x"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/#!/route", "https://example.com/"),
        ("https://example.com/%7euser/%41%2fb%3f", "https://example.com/~user/A%2Fb%3F"),
        ("https://example.com/100%", "https://example.com/100%25"),
        ("https://example.com/%%34%31", "https://example.com/%2541"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/?", "https://example.com/"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://example.com/a\\b", "https://example.com/a/b"),
        ("http://0x7f000001/", "http://127.0.0.1/"),
        ("http://2130706433", "http://127.0.0.1/"),
        ("http://127.1.", "http://127.0.0.1/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("http://[0:0::1]/", "http://[::1]/"),
        ("http://@example.com/", "http://example.com/"),
        ("https://example.com//a//", "https://example.com//a//"),
    ] {
        check(input, expected);
    }
}

#[test]
fn tracking_parameters_are_removed_and_others_keep_their_order() {
    for (input, expected) in [
        ("https://e.com/?utm_source=x&utm_medium=y", "https://e.com/"),
        ("https://e.com/?z=1&utm_source=x&a=2&GCLID=3&m", "https://e.com/?z=1&a=2&m"),
        ("https://e.com/?fbclid=1&id=7&mc_eid=2", "https://e.com/?id=7"),
        ("https://e.com/?utm%5Fsource=x&q=a+b", "https://e.com/?q=a+b"),
        ("https://e.com/?utm_source", "https://e.com/"),
        ("https://e.com/?gclid_of=1&autumn_=2&ref=3", "https://e.com/?gclid_of=1&autumn_=2&ref=3"),
        ("https://e.com/?a&&b", "https://e.com/?a&&b"),
        ("https://e.com/?&utm_id=1&", "https://e.com/"),
        ("https://e.com/?q=utm_source", "https://e.com/?q=utm_source"),
        ("https://e.com/?q=%c3%a9", "https://e.com/?q=%C3%A9"),
    ] {
        check(input, expected);
    }
    assert!(TRACKING_NAMES.is_sorted(), "required by binary search");
}

#[test]
fn urls_without_a_web_document_are_rejected() {
    use UrlError::{Credentials, Host, Malformed, NotHttp, TooLong};
    let malformed = |error: &UrlError| matches!(error, Malformed { .. });
    let host = |error: &UrlError| matches!(error, Host(_));
    let not_http = |error: &UrlError| matches!(error, NotHttp(_));
    type Check<'a> = &'a dyn Fn(&UrlError) -> bool;
    let cases: [(&str, Check<'_>); 23] = [
        ("", &not_http),
        ("example.com", &not_http),
        ("/a/b", &not_http),
        ("//example.com/", &not_http),
        ("ftp://example.com/", &not_http),
        ("javascript:alert(1)", &not_http),
        ("file:///etc/passwd", &not_http),
        ("http:example.com", &not_http),
        ("http:/example.com", &not_http),
        ("http:\\\\example.com", &not_http),
        ("héé", &not_http),
        ("http://", &host),
        ("http:///example.com", &host),
        ("http://./", &host),
        ("http://a..b/", &host),
        ("http://example.com../", &host),
        ("http://exa mple.com/", &host),
        ("http://256.256.256.256/", &host),
        ("http://example.com:99999/", &malformed),
        ("http://exa\tmple.com/", &malformed),
        ("http://example.com/a\u{0}b", &malformed),
        ("http://user@example.com/", &|error| matches!(error, Credentials(_))),
        ("http://u:p@example.com/", &|error| matches!(error, Credentials(_))),
    ];
    for (input, expected) in cases {
        let error = CanonicalUrl::parse(input).unwrap_err();
        assert!(expected(&error), "{input}: {error:?}");
    }
    assert!(CanonicalUrl::parse(&format!("http://{}.com/", "a".repeat(64))).is_err());
    let long = format!("http://e.com/{}", "ü".repeat(MAX_LENGTH / 3));
    assert!(matches!(CanonicalUrl::parse(&long), Err(TooLong(_))), "too long once escaped");
}

#[test]
fn messages_contain_the_value_and_never_a_password() {
    assert_eq!(
        CanonicalUrl::parse("ftp://x/").unwrap_err().to_string(),
        "`ftp://x/` is not an absolute http:// or https:// URL"
    );
    let message = CanonicalUrl::parse("https://me:secret@example.com/").unwrap_err().to_string();
    assert!(message.contains("example.com") && !message.contains("secret"), "{message}");
    assert!(CanonicalUrl::parse(&"x".repeat(100_000)).unwrap_err().to_string().len() < 300);
}

#[test]
fn host_and_document_id_are_stable() {
    let url = CanonicalUrl::parse("https://Docs.Example.com.:8443/a").unwrap();
    assert_eq!(url.as_str(), "https://docs.example.com:8443/a");
    assert_eq!(url.host(), "docs.example.com");
    assert_eq!(CanonicalUrl::parse("http://[::1]/").unwrap().host(), "[::1]");
    // Stable forever, because callers store ids: python3's uuid.uuid5(NAMESPACE_URL, "https://example.com/").
    let url = CanonicalUrl::parse("https://EXAMPLE.com#x").unwrap();
    assert_eq!(url.doc_id().to_string(), "dd2c1780-811a-5296-81c5-178a0ef488bc");
}

#[test]
fn workspace_urls_encode_any_name() {
    let organization = OrganizationId(Uuid::from_u128(0x1234));
    let url = workspace_url(organization, "Größe & mehr/ä?.pdf");
    assert_eq!(url, format!("workspace://{organization}/Gr%C3%B6%C3%9Fe%20%26%20mehr%2F%C3%A4%3F.pdf"));
    assert_eq!(parse_workspace_url(&url), Some((organization, "Größe & mehr/ä?.pdf".into())));
    assert_eq!(
        parse_workspace_url(&format!("WorkSpace://{}/a b.txt", organization.to_string().to_uppercase())),
        Some((organization, "a b.txt".into()))
    );
    for bad in ["workspace://x/a", "workspace:", "wörkspace://", "http://example.com/"] {
        assert_eq!(parse_workspace_url(bad), None, "{bad}");
    }
    for bad in ["", "a/b", "a?b", "%FF"] {
        assert_eq!(parse_workspace_url(&format!("workspace://{organization}/{bad}")), None, "{bad}");
    }
    assert_eq!(parse_workspace_url(&format!("workspace://{}/a", organization.0.simple())), None);
}

proptest! {
    #[test]
    fn canonicalization_is_idempotent(rest in "[a-zA-Z0-9.%/?&=_:@\\[\\]+#;~ äß。-]{0,60}", secure in any::<bool>()) {
        let input = format!("{}{rest}", if secure { "https://" } else { "http://e.com/" });
        if let Ok(url) = CanonicalUrl::parse(&input) {
            let again = CanonicalUrl::parse(url.as_str());
            prop_assert_eq!(again.as_ref().map(CanonicalUrl::as_str), Ok(url.as_str()));
            prop_assert!(url.as_str().is_ascii() && !url.host().is_empty() && !url.as_str().contains('#'));
        }
    }

    #[test]
    fn any_text_is_parsed_without_panic(input in "\\PC{0,60}") {
        let _ = CanonicalUrl::parse(&input);
        let _ = parse_workspace_url(&input);
    }

    #[test]
    fn workspace_names_round_trip(name in "(?s).{1,60}") {
        let organization = OrganizationId(Uuid::from_u128(7));
        let url = workspace_url(organization, &name);
        prop_assert!(url.is_ascii());
        prop_assert_eq!(parse_workspace_url(&url), Some((organization, name)));
    }
}
