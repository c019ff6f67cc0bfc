#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn policy(networks: &[&str], ports: &[u16]) -> TargetPolicy {
    let networks = networks.iter().map(|network| network.parse().unwrap()).collect();
    TargetPolicy { guard: AddressGuard::new(networks), ports: ports.to_vec() }
}

fn parse(text: &str) -> Result<Target, FetchError> {
    Target::parse(text, &policy(&[], &[]))
}

/// Hosts that mean an address of the operator's network, in many spellings.
const REFUSED_HOSTS: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.1.",
    "127.0.1",
    "2130706433",
    "2130706433.",
    "0x7f000001",
    "0X7F000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "0177.0x0.0.1",
    "00000177.1",
    "0",
    "0.0.0.0",
    "0x0",
    "0x",
    "0x.0x.0x.0x",
    "00",
    "10.1",
    "10.0.0.1",
    "012.0.0.1",
    "0xa.1",
    "167772161",
    "192.168.257",
    "3232235777",
    "0xc0a80101",
    "172.16.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0xA9.0xFE.0xA9.0xFE",
    "0251.0376.0251.0376",
    "169.254.43518",
    "168.63.129.16",
    "100.100.100.200",
    "255.255.255.255",
    "4294967295",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "%30%78%37%66.1",
    "１２７.０.０.１",
    "１２７。０。０。１",
    "127｡0｡0｡1",
    "①②⑦.⓪.⓪.①",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "0ˣ7f.1",
    "１６９.２５４.１６９.２５４",
    "127.0.0.\u{ad}1",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000::0001]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:7F00:0001]",
    "[0:0:0:0:0:ffff:10.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a00:1]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "ｌｏｃａｌｈｏｓｔ",
    "loc%61lhost",
    "intranet",
    "metadata",
];

#[test]
fn no_spelling_of_a_refused_host_passes() {
    for host in REFUSED_HOSTS {
        for url in [format!("http://{host}/"), format!("https://{host}:8443/a?b#c"), format!("http:\\\\{host}\\a")] {
            assert_eq!(parse(&url).err(), Some(FetchError::RefusedAddress), "{url}");
        }
    }
}

#[test]
fn no_spelling_of_a_refused_host_passes_as_a_redirect() {
    let here = parse("https://example.com/a/b").unwrap();
    for host in REFUSED_HOSTS {
        for location in [format!("http://{host}/"), format!("//{host}/"), format!(" \t//user:word@{host} ")] {
            let hop = here.redirected(location.as_bytes(), &policy(&[], &[]));
            assert_eq!(hop.err(), Some(FetchError::RefusedAddress), "{location}");
        }
    }
}

#[test]
fn malformed_hosts_are_invalid() {
    for host in [
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[::1",
        "::1",
        "256.256.256.256",
        "1.2.3.4.5",
        "127.0.0.08",
        "4294967296",
        "0x100000000",
        "example..com",
        "example.com..",
        ".example.com",
        ".",
        "exa mple.com",
        "example.com%00.evil.com",
        "127.0.0.1%00",
        "",
    ] {
        for url in [format!("http://{host}/"), format!("https://{host}:443/")] {
            assert!(matches!(parse(&url), Err(FetchError::InvalidUrl { .. })), "{url}: {:?}", parse(&url));
        }
    }
    let long = format!("http://{}com/", "a234567890.".repeat(30));
    assert!(matches!(parse(&long), Err(FetchError::InvalidUrl { .. })));
}

#[test]
fn only_http_urls_without_credentials_are_targets() {
    for url in [
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_x",
        "javascript:alert(1)",
        "data:text/html,x",
        "blob:https://example.com/x",
        "view-source:http://example.com",
        "ws://example.com",
        "/relative",
        "example.com",
        "http://user@example.com/",
        "http://user:word@example.com/",
        "http://:word@example.com/",
        "http://",
        "",
    ] {
        assert!(matches!(parse(url), Err(FetchError::InvalidUrl { .. })), "{url}");
    }
    assert!(matches!(parse(&format!("http://example.com/{}", "a".repeat(9000))), Err(FetchError::InvalidUrl { .. })));
}

#[test]
fn ports_of_other_services_are_refused_unless_opened() {
    for port in [0, 1, 21, 22, 23, 25, 53, 110, 143, 445, 465, 587, 993, 1023] {
        let url = format!("http://example.com:{port}/");
        assert_eq!(parse(&url).err(), Some(FetchError::RefusedPort { port }));
        assert!(Target::parse(&url, &policy(&[], &[port])).is_ok());
    }
    for url in
        ["http://example.com/", "https://example.com:80/", "http://example.com:1024/", "http://example.com:65535/"]
    {
        assert!(parse(url).is_ok(), "{url}");
    }
}

#[test]
fn targets_are_normalized() {
    for (url, expected) in [
        ("HTTP://EXAMPLE.com./a/../b#part", "http://example.com/b"),
        ("https://bücher.example:443", "https://xn--bcher-kva.example/"),
        ("http://8.8.8.8.:80/?q=ä", "http://8.8.8.8/?q=%C3%A4"),
        ("http://134744072/", "http://8.8.8.8/"),
        ("http://[2606:4700:4700::1111]:8080/", "http://[2606:4700:4700::1111]:8080/"),
        ("http://localhost.example/", "http://localhost.example/"),
    ] {
        assert_eq!(parse(url).unwrap().url().as_str(), expected);
    }
    let target = parse("https://example.com:8443/a?b=c#d").unwrap();
    assert_eq!(target.origin(), "https://example.com:8443");
    assert_eq!(target.path_and_query(), "/a?b=c");
    assert_eq!(target.robots_txt().url().as_str(), "https://example.com:8443/robots.txt");
}

#[test]
fn opened_networks_open_their_addresses_and_short_names() {
    let policy = policy(&["10.0.0.0/8"], &[]);
    for url in ["http://10.1.2.3/", "http://0xa.1/", "http://[::ffff:10.0.0.1]/", "http://wiki/", "http://localhost/"] {
        assert!(Target::parse(url, &policy).is_ok(), "{url}");
    }
    for url in ["http://127.0.0.1/", "http://[::1]/", "http://[64:ff9b::10.0.0.1]/"] {
        assert_eq!(Target::parse(url, &policy).err(), Some(FetchError::RefusedAddress), "{url}");
    }
}

#[test]
fn redirects_resolve_as_in_browsers() {
    let here = parse("https://example.com/a/b?c=d").unwrap();
    for (location, expected) in [
        (&b"/x"[..], "https://example.com/x"),
        (b"x", "https://example.com/a/x"),
        (b"../x#part", "https://example.com/x"),
        (b"?y", "https://example.com/a/b?y"),
        (b"//other.example/x", "https://other.example/x"),
        (b"http://example.com/a/b", "http://example.com/a/b"),
        (b" https://example.com/x\t", "https://example.com/x"),
        (b"https://user:word@example.com/x", "https://example.com/x"),
        (b"HTTPS:\\\\example.com\\x", "https://example.com/x"),
        ("/ä b".as_bytes(), "https://example.com/%C3%A4%20b"),
        (b"/\xe4", "https://example.com/%C3%A4"),
        (b"", "https://example.com/a/b?c=d"),
    ] {
        let hop = here.redirected(location, &policy(&[], &[])).unwrap();
        assert_eq!(hop.url().as_str(), expected, "{}", String::from_utf8_lossy(location));
    }
    for location in ["javascript:alert(1)", "file:///etc/passwd", "http://[::1", "mailto:a@example.com", "about:blank"]
    {
        let hop = here.redirected(location.as_bytes(), &policy(&[], &[]));
        assert!(matches!(hop, Err(FetchError::InvalidUrl { .. })), "{location}");
    }
    let hop = here.redirected(b"http://example.com:22/", &policy(&[], &[]));
    assert_eq!(hop.err(), Some(FetchError::RefusedPort { port: 22 }));
}

proptest! {
    #[test]
    fn no_host_leads_to_a_refused_address(host in ".{0,40}") {
        if let Ok(target) = parse(&format!("http://{host}/")) {
            let guard = AddressGuard::default();
            match target.url().host() {
                Some(Host::Ipv4(address)) => prop_assert!(guard.allows(address.into())),
                Some(Host::Ipv6(address)) => prop_assert!(guard.allows(address.into())),
                Some(Host::Domain(name)) => {
                    prop_assert!(name.contains('.'));
                    prop_assert!(name.parse::<std::net::IpAddr>().is_err());
                }
                None => prop_assert!(false, "a target without a host"),
            }
        }
    }

    #[test]
    fn numeric_spellings_of_an_address_are_judged_alike(bits in any::<u32>(), style in 0..6) {
        let address = std::net::Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = address.octets();
        let host = match style {
            0 => format!("{bits}"),
            1 => format!("{bits:#x}"),
            2 => format!("0{bits:o}"),
            3 => format!("0x{a:x}.0{b:o}.{c}.{d}."),
            4 => format!("{a}.{}", bits & 0xff_ffff),
            _ => format!("[::ffff:{address}]"),
        };
        let allowed = AddressGuard::default().allows(address.into());
        prop_assert_eq!(parse(&format!("http://{host}/")).is_ok(), allowed, "{}", host);
    }

    #[test]
    fn no_location_panics(location in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = parse("https://example.com/").unwrap().redirected(&location, &policy(&[], &[]));
    }
}
