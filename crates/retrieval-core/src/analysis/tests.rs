use proptest::prelude::*;

use super::*;

fn tokens(language: Language, text: &str) -> Vec<(TokenKind, String, String, u32)> {
    let mut out = Vec::new();
    Analyzer::new(Some(language)).tokens(text, |token| {
        out.push((token.kind, token.word.to_owned(), token.stem.to_owned(), token.position));
    });
    out
}

fn words(text: &str, kind: TokenKind) -> Vec<String> {
    let of_kind = tokens(Language::English, text).into_iter().filter(|token| token.0 == kind);
    of_kind.map(|token| token.1).collect()
}

/// Returns all terms of a document.
fn document_terms(language: Option<Language>, text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::new(language).tokens(text, |token| {
        terms.push(token.stem.to_owned());
        terms.extend(token.loose_stem.map(str::to_owned));
    });
    terms
}

/// Returns the number of query terms found in the document, and the total number of query terms.
fn matches(query: &str, languages: &[Language], language: Language, document: &str) -> (usize, usize) {
    let terms = document_terms(Some(language), document);
    let query = analyze_query(query, languages);
    let found = query.terms.iter().filter(|term| term.variants.iter().any(|variant| terms.contains(variant)));
    (found.count(), query.terms.len())
}

#[test]
fn words_are_folded_and_stems_are_stemmed() {
    assert_eq!(
        tokens(Language::English, "Running Pumps"),
        vec![(TokenKind::Word, "running".into(), "run".into(), 0), (TokenKind::Word, "pumps".into(), "pump".into(), 1),]
    );
    // Identifiers are not stemmed.
    assert_eq!(tokens(Language::English, "RS232s")[0].2, "rs232s");
}

#[test]
fn compounds_and_parts_are_additional_terms() {
    assert_eq!(words("E-mail via foo_bar", TokenKind::Compound), ["email", "foobar"]);
    assert_eq!(words("the U-2, AT&T", TokenKind::Compound), ["u2", "att"]);
    assert_eq!(words("a - b", TokenKind::Compound), Vec::<String>::new());
    assert_eq!(words("a-b-c-d-e", TokenKind::Compound), Vec::<String>::new());
    assert_eq!(
        words("parseUrl HTTPServer NLGI2 10kg", TokenKind::Part),
        ["parse", "url", "http", "server", "nlgi", "2", "10", "kg"]
    );
    assert_eq!(words("d41d8cd98f00b204 u2 Pump v1.2.3", TokenKind::Part), ["1.2.3"]);
    assert_eq!(words("1,250,000", TokenKind::Word), ["1250000"]);
}

#[test]
fn ignorable_characters_do_not_change_words() {
    for (plain, written) in [
        ("cooperate", "co\u{ad}operate"),
        ("longword", "long\u{200b}word\u{200b}"),
        ("parseUrl, 10kg", "\u{feff}parse\u{2060}Url\u{200e}, 10\u{200b}kg"),
        ("version 3.5 of 1,250,000", "version 3.\u{200b}5\u{200e} of 1,\u{2060}250,000\u{200f}"),
        ("e-mail via C++ or C#", "e-\u{200b}mail via C\u{2060}++ or C\u{fe0f}#"),
        ("re\u{301}sume\u{301}", "re\u{200b}\u{301}su\u{34f}me\u{301}"),
        ("don't use the WHO's pump", "don'\u{200b}t use the WHO\u{200b}'\u{200b}s pump"),
        ("[a](https://b.org) c", "[a]\u{200b}(https://\u{200b}b.\u{200b}org) c"),
        ("میخواهم", "می\u{200c}خواهم"),
        ("क्ष", "क्\u{200d}ष"),
        ("葛城", "葛\u{e0100}城\u{fe00}"),
        ("กขค", "ก\u{200b}ข\u{2060}ค"),
        ("", "\u{200b}\u{feff}"),
        ("", "\u{3164}"),
    ] {
        assert_eq!(tokens(Language::English, written), tokens(Language::English, plain), "{written:?}");
        assert_eq!(analyze_query(written, Language::ALL), analyze_query(plain, Language::ALL), "{written:?}");
    }
    assert_eq!(words("ꦗꦮ\u{200b}ꦧꦱ", TokenKind::Word), ["ꦗꦮ", "ꦧꦱ"]);
}

#[test]
fn ranges_include_ignorable_characters() {
    let text = "\u{feff}A parse\u{ad}Url\u{200b}! 東\u{2060}京 e-\u{ad}mail";
    let mut found = Vec::new();
    Analyzer::new(None).tokens(text, |token| found.push(&text[token.bytes]));
    assert_eq!(
        found,
        [
            "A",
            "parse\u{ad}Url\u{200b}",
            "parse\u{ad}",
            "Url\u{200b}",
            "東\u{2060}",
            "京",
            "東\u{2060}京",
            "e",
            "mail",
            "e-\u{ad}mail",
        ]
    );
}

#[test]
fn only_words_and_characters_have_positions() {
    let positional: Vec<u32> = tokens(Language::English, "e-mail parseUrl 東京都 end")
        .into_iter()
        .filter(|token| token.0.is_positional())
        .map(|token| token.3)
        .collect();
    assert_eq!(positional, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn addresses_of_links_have_no_positions() {
    let placed = |text: &str| {
        let tokens = tokens(Language::English, text).into_iter();
        tokens.map(|(kind, word, _, position)| (kind, word, position)).collect::<Vec<_>>()
    };
    let expected = |tokens: &[(TokenKind, &str, u32)]| {
        tokens.iter().map(|(kind, word, position)| (*kind, (*word).to_owned(), *position)).collect::<Vec<_>>()
    };
    assert_eq!(
        placed("[e-mail](https://a.org/10kg \"Old\") ok"),
        expected(&[
            (TokenKind::Word, "e", 0),
            (TokenKind::Word, "mail", 1),
            (TokenKind::Compound, "email", 0),
            (TokenKind::Part, "https", 1),
            (TokenKind::Part, "a", 1),
            (TokenKind::Part, "org", 1),
            (TokenKind::Compound, "aorg", 1),
            (TokenKind::Part, "10kg", 1),
            (TokenKind::Part, "10", 1),
            (TokenKind::Part, "kg", 1),
            (TokenKind::Part, "old", 1),
            (TokenKind::Word, "ok", 2),
        ])
    );
    assert_eq!(
        placed("[東](/東京)都"),
        expected(&[
            (TokenKind::Character, "東", 0),
            (TokenKind::Part, "東", 0),
            (TokenKind::Part, "京", 0),
            (TokenKind::Bigram, "東京", 0),
            (TokenKind::Character, "都", 1),
        ])
    );
    assert_eq!(placed("![](/a) b"), expected(&[(TokenKind::Part, "a", 0), (TokenKind::Word, "b", 0)]));
}

#[test]
fn a_query_may_contain_links() {
    let query = analyze_query("[the bearings](https://example.org) once", &[]);
    assert_eq!(query.phrase, ["the", "bearings", "once"]);
    assert!(query.terms.iter().any(|term| term.word == "example"));
    let address = analyze_query("![](/example)", &[]);
    assert!(address.phrase.is_empty() && address.terms.len() == 1);
}

#[test]
fn scripts_without_spaces_yield_characters_and_bigrams() {
    assert_eq!(words("東京都", TokenKind::Character), ["東", "京", "都"]);
    assert_eq!(words("東京都", TokenKind::Bigram), ["東京", "京都"]);
    assert_eq!(words("東、京", TokenKind::Bigram), Vec::<String>::new());
    assert_eq!(words("ｶﾞｽ", TokenKind::Bigram), ["ガス"]);
    let terms = |text: &str| analyze_query(text, &[]).terms.into_iter().map(|term| term.word).collect::<Vec<_>>();
    assert_eq!(terms("東京都"), ["東京", "京都"]);
    assert_eq!(terms("水"), ["水"]);
    assert_eq!(terms("2024年"), ["2024", "年"]);
    assert_eq!(terms("น้ำมัน").len(), 3);
}

#[test]
fn a_query_matches_documents_of_each_language() {
    let languages = [Language::English, Language::German, Language::French];
    assert_eq!(matches("pumping stations", &languages, Language::English, "The station pumped water."), (2, 2));
    assert_eq!(matches("Häuser", &languages, Language::German, "Das Haus am See"), (1, 1));
    assert_eq!(matches("haus", &languages, Language::German, "Die HÄUSER am See"), (1, 1));
    assert_eq!(matches("creme brulee", &languages, Language::French, "La crème brûlée"), (2, 2));
    assert_eq!(matches("crème brûlée", &languages, Language::French, "creme brulee"), (2, 2));
    assert_eq!(matches("email", &languages, Language::English, "by e-mail"), (1, 1));
}

#[test]
fn unknown_language_is_consistent() {
    let terms = document_terms(None, "Заявления pumping");
    let query = analyze_query("заявления pumps", &[]);
    assert!(query.terms.iter().all(|term| term.variants.iter().any(|variant| terms.contains(variant))));
}

#[test]
fn variants_are_distinct_and_ordered_by_language() {
    let query = analyze_query("running", &[Language::English, Language::German]);
    assert_eq!(query.terms[0].variants, ["run", "running"]);
    let query = analyze_query("pump", &[Language::English, Language::German]);
    assert_eq!(query.terms[0].variants, ["pump"]);
}

#[test]
fn stop_words_are_dropped_unless_nothing_else_is_left() {
    let words = |text: &str, languages: &[Language]| {
        analyze_query(text, languages).terms.into_iter().map(|term| term.word).collect::<Vec<_>>()
    };
    let both = [Language::English, Language::German];
    assert_eq!(words("what is the best grease", &both), ["best", "grease"]);
    assert_eq!(words("world war", &both), ["world", "war"]);
    assert_eq!(words("wie ist das Wetter in Bonn", &both), ["wetter", "bonn"]);
    assert_eq!(words("to be or not to be", &both).len(), 4);
    assert_eq!(words("guidelines of the WHO", &both), ["guidelines", "who"]);
    assert_eq!(words("hepatitis A vaccine", &both), ["hepatitis", "a", "vaccine"]);
    assert_eq!(words("carence en vitamine D", &[Language::French]), ["carence", "vitamine", "d"]);
    for article in ["A pump", "a pump", "\"A pump", "where is it? A pump", "WHERE IS A PUMP"] {
        assert!(!words(article, &both).contains(&"a".to_owned()), "{article}");
    }
    assert_eq!(words("what should I use", &both), ["use"]);
    assert_eq!(words("don't use Boeing's pumps", &both), ["use", "boeing", "pumps"]);
    assert_eq!(words("l'avion d'Air France", &[Language::French]), ["avion", "air", "france"]);
    assert_eq!(analyze_query("to be or not", &both).phrase, ["to", "be", "or", "not"]);
}

#[test]
fn openings_that_ask_for_documents_are_dropped() {
    let words = |text: &str| {
        let terms = analyze_query(text, &[Language::English]).terms;
        terms.into_iter().map(|term| term.word).collect::<Vec<_>>().join(" ")
    };
    for opening in [
        "I am interested in",
        "I'm looking for articles about",
        "Any information on",
        "What articles exist which deal with",
        "Please find all papers describing",
        "List all documents related to",
        "I'd like to know about the",
        "Tubes leak. I would like papers on",
    ] {
        let expected = if opening.starts_with("Tubes") { "tubes leak heat pumps" } else { "heat pumps" };
        assert_eq!(words(&format!("{opening} heat pumps")), expected);
    }
    // Subjects.
    for question in ["information retrieval", "search engines", "looking glass", "information", "list comprehension"] {
        assert_eq!(words(question), question);
    }
    assert_eq!(words("all about Eve"), "all about eve");
    assert_eq!(words("dealing with grief"), "dealing grief");
    assert_eq!(words("articles of confederation"), "articles confederation");
    assert_eq!(words("who wrote papers on bridges"), "wrote papers bridges");
    assert_eq!(words("papers on the"), "papers");
    assert_eq!(words("information on heat and papers about information"), "information heat papers about");
}

#[test]
fn repeated_words_add_weight_to_one_term() {
    let query = analyze_query("pump pumps valve", &[]);
    let weights: Vec<_> = query.terms.iter().map(|term| (&*term.variants[0], term.weight)).collect();
    assert_eq!(weights, [("pump", 2.0), ("valv", 1.0)]);
}

#[test]
fn rarest_terms_are_kept_in_order() {
    let mut query = analyze_query("alpha beta gamma delta", &[]);
    query.keep_rarest(2, |term| match &*term.word {
        "alpha" => 0,
        "beta" => 5,
        "gamma" => 100,
        _ => 1,
    });
    assert_eq!(query.terms.iter().map(|term| &*term.word).collect::<Vec<_>>(), ["beta", "delta"]);
}

#[test]
fn long_and_hostile_texts_are_bounded() {
    let long = "x".repeat(100_000);
    assert_eq!(tokens(Language::English, &long)[0].1.len(), MAX_TERM_BYTES);
    let marks = format!("a{}", "\u{301}".repeat(100_000));
    assert_eq!(tokens(Language::English, &marks).len(), 1);
    let joined = "a\u{2060}".repeat(100_000);
    assert_eq!(tokens(Language::English, &joined)[0].1.len(), MAX_TERM_BYTES);
    let apart = format!("東{}", "\u{200b}".repeat(10_000)).repeat(100);
    assert_eq!(tokens(Language::English, &apart).len(), 199);
    let paste: String = (0..5000).map(|n| format!("w{n} ")).collect();
    assert_eq!(analyze_query(&paste, Language::ALL).terms.len(), MAX_QUERY_TERMS);
    for text in ["", " ", "\0", "\"()[]{}:^~*?\\/", "😀", "\u{301}", "'", "''s", "n't"] {
        let query = analyze_query(text, Language::ALL);
        assert_eq!(query.terms.is_empty(), !text.chars().any(char::is_alphanumeric), "{text:?}");
    }
}

/// Generates texts rich in characters with special rules.
fn texts() -> impl Strategy<Value = String> {
    let special = "aZ09.,-_&+#'’ \u{301}\u{ad}\u{200b}\u{200d}\u{fe0f}ꦗéßİςё東京ガｶﾞ한\u{1112}\u{1161}\u{11ab}กำ้कि्ﬁ½²①ﷺ😀\u{640}\u{64b}";
    let special = special.chars().map(String::from).chain(["](/", ")"].map(String::from));
    let special = proptest::sample::select(special.collect::<Vec<_>>());
    let piece = prop_oneof![special, any::<char>().prop_map(String::from)];
    let mixed = proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat());
    prop_oneof![any::<String>(), mixed, words_of_one_alphabet()]
}

/// Generates words from one alphabet each, where stemmers find endings.
fn words_of_one_alphabet() -> impl Strategy<Value = String> {
    let alphabets = [
        "aeioulnrstdgmyeeii",
        "abcdefghijklmnopqrstuvwxyzäöüßéèêàâîïôûçñáíóúãõåæøčďěňřšťůžąćęłńśźżăâîșțğış",
        "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґћђљњџ",
        "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋ",
        "ابتثجحخدذرزسشصضطظعغفقكلمنهويءأإؤئةىپچژگک\u{64e}\u{651}",
        "अआइईउऊएऐओऔकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहािीुूेैोौ्ंँ",
        "அஆஇஈஉஊஎஏஐஒஓகஙசஜஞடணதநனபமயரறலளழவஷஸஹாிீுூெேைொோௌ்",
        "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ",
        "אבגדהוזחטיכלמנסעפצקרשתךםןףץײַפֿ",
    ];
    proptest::sample::select(alphabets.to_vec()).prop_flat_map(|alphabet| {
        let letters = proptest::sample::select(alphabet.chars().collect::<Vec<_>>());
        let word = proptest::collection::vec(letters, 1..14).prop_map(String::from_iter);
        proptest::collection::vec(word, 1..12).prop_map(|words| words.join(" "))
    })
}

proptest! {
    #[test]
    fn tokens_are_well_formed(text in texts(), language in proptest::sample::select(Language::ALL)) {
        let mut next = 0;
        let mut failure = None;
        Analyzer::new(Some(language)).tokens(&text, |token| {
            let source = text.get(token.bytes.clone());
            let positional = token.kind.is_positional();
            let ok = source.is_some_and(|source| !source.is_empty())
                && !token.word.is_empty() && token.word.len() <= MAX_TERM_BYTES
                && !token.stem.is_empty() && token.stem.len() <= MAX_TERM_BYTES
                && token.loose_stem.is_none_or(|stem| !stem.is_empty())
                && if positional { token.position == next } else { token.position < next.max(1) };
            next += u32::from(positional);
            if !ok {
                failure = Some(format!("{token:?}"));
            }
        });
        prop_assert_eq!(failure, None);
    }

    /// A text used as a query matches all of itself, under any set of languages that includes the document's.
    #[test]
    fn a_text_matches_itself_as_query(text in texts(), languages in proptest::sample::subsequence(Language::ALL, 1..6), at in 0usize..6) {
        let language = languages[at % languages.len()];
        let terms = document_terms(Some(language), &text);
        let query = analyze_query(&text, &languages);
        for term in &query.terms {
            prop_assert!(term.variants.iter().any(|variant| terms.contains(variant)), "{term:?}");
        }
        prop_assert_eq!(query.terms.is_empty(), terms.is_empty());
    }

    #[test]
    fn a_reused_analyzer_behaves_like_a_new_one(texts in proptest::collection::vec(texts(), 1..4)) {
        let mut reused = Analyzers::default();
        for text in &texts {
            let mut seen = Vec::new();
            reused.of(Some(Language::French)).tokens(text, |token| seen.push((token.word.to_owned(), token.stem.to_owned())));
            let mut fresh = Vec::new();
            Analyzer::new(Some(Language::French)).tokens(text, |token| fresh.push((token.word.to_owned(), token.stem.to_owned())));
            prop_assert_eq!(seen, fresh);
        }
    }
}
