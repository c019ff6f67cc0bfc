use frostem::Algorithm;
use whatlang::Lang;

macro_rules! languages {
    ($($name:ident $code:literal $algorithm:expr, $lang:expr;)*) => {
        /// Language of a text: those with a Snowball stemmer and those that [`detect`] distinguishes.
        ///
        /// Languages without a stemmer and texts of unknown language use the English stemmer. It ignores other scripts,
        /// and it shortens Latin-script words the same way in queries, so that matches are preserved.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Language { $($name),* }

        impl Language {
            pub const ALL: &'static [Language] = &[$(Language::$name),*];

            /// Returns the lowercase ISO 639-1 code (ISO 639-2 for the few languages without one).
            pub fn code(self) -> &'static str {
                match self { $(Language::$name => $code),* }
            }

            pub(super) fn own_algorithm(self) -> Option<Algorithm> {
                match self { $(Language::$name => $algorithm),* }
            }

            fn of_detected(lang: Lang) -> Option<Self> {
                $(if $lang == Some(lang) { return Some(Language::$name); })*
                None
            }
        }
    };
}

languages! {
    Afrikaans "af" None, Some(Lang::Afr);
    Akan "ak" None, Some(Lang::Aka);
    Amharic "am" None, Some(Lang::Amh);
    Arabic "ar" Some(Algorithm::Arabic), Some(Lang::Ara);
    Armenian "hy" Some(Algorithm::Armenian), Some(Lang::Hye);
    Azerbaijani "az" None, Some(Lang::Aze);
    Basque "eu" Some(Algorithm::Basque), None;
    Belarusian "be" None, Some(Lang::Bel);
    Bengali "bn" None, Some(Lang::Ben);
    Bulgarian "bg" None, Some(Lang::Bul);
    Burmese "my" None, Some(Lang::Mya);
    Catalan "ca" Some(Algorithm::Catalan), Some(Lang::Cat);
    Chinese "zh" None, Some(Lang::Cmn);
    Croatian "hr" None, Some(Lang::Hrv);
    Czech "cs" Some(Algorithm::Czech), Some(Lang::Ces);
    Danish "da" Some(Algorithm::Danish), Some(Lang::Dan);
    Dutch "nl" Some(Algorithm::Dutch), Some(Lang::Nld);
    English "en" Some(Algorithm::English), Some(Lang::Eng);
    Esperanto "eo" Some(Algorithm::Esperanto), Some(Lang::Epo);
    Estonian "et" Some(Algorithm::Estonian), Some(Lang::Est);
    Finnish "fi" Some(Algorithm::Finnish), Some(Lang::Fin);
    French "fr" Some(Algorithm::French), Some(Lang::Fra);
    Georgian "ka" None, Some(Lang::Kat);
    German "de" Some(Algorithm::German), Some(Lang::Deu);
    Greek "el" Some(Algorithm::Greek), Some(Lang::Ell);
    Gujarati "gu" None, Some(Lang::Guj);
    Hebrew "he" None, Some(Lang::Heb);
    Hindi "hi" Some(Algorithm::Hindi), Some(Lang::Hin);
    Hungarian "hu" Some(Algorithm::Hungarian), Some(Lang::Hun);
    Indonesian "id" Some(Algorithm::Indonesian), Some(Lang::Ind);
    Irish "ga" Some(Algorithm::Irish), None;
    Italian "it" Some(Algorithm::Italian), Some(Lang::Ita);
    Japanese "ja" None, Some(Lang::Jpn);
    Javanese "jv" None, Some(Lang::Jav);
    Kannada "kn" None, Some(Lang::Kan);
    Khmer "km" None, Some(Lang::Khm);
    Korean "ko" None, Some(Lang::Kor);
    Latin "la" None, Some(Lang::Lat);
    Latvian "lv" None, Some(Lang::Lav);
    Lithuanian "lt" Some(Algorithm::Lithuanian), Some(Lang::Lit);
    Macedonian "mk" None, Some(Lang::Mkd);
    Malayalam "ml" None, Some(Lang::Mal);
    Marathi "mr" None, Some(Lang::Mar);
    Nepali "ne" Some(Algorithm::Nepali), Some(Lang::Nep);
    Norwegian "no" Some(Algorithm::Norwegian), Some(Lang::Nob);
    Oriya "or" None, Some(Lang::Ori);
    Persian "fa" Some(Algorithm::Persian), Some(Lang::Pes);
    Polish "pl" Some(Algorithm::Polish), Some(Lang::Pol);
    Portuguese "pt" Some(Algorithm::Portuguese), Some(Lang::Por);
    Punjabi "pa" None, Some(Lang::Pan);
    Romanian "ro" Some(Algorithm::Romanian), Some(Lang::Ron);
    Russian "ru" Some(Algorithm::Russian), Some(Lang::Rus);
    Serbian "sr" Some(Algorithm::Serbian), Some(Lang::Srp);
    Sesotho "st" Some(Algorithm::Sesotho), None;
    Shona "sn" None, Some(Lang::Sna);
    Sinhala "si" None, Some(Lang::Sin);
    Slovak "sk" None, Some(Lang::Slk);
    Slovene "sl" None, Some(Lang::Slv);
    Spanish "es" Some(Algorithm::Spanish), Some(Lang::Spa);
    Swedish "sv" Some(Algorithm::Swedish), Some(Lang::Swe);
    Tagalog "tl" None, Some(Lang::Tgl);
    Tamil "ta" Some(Algorithm::Tamil), Some(Lang::Tam);
    Telugu "te" None, Some(Lang::Tel);
    Thai "th" None, Some(Lang::Tha);
    Turkish "tr" Some(Algorithm::Turkish), Some(Lang::Tur);
    Turkmen "tk" None, Some(Lang::Tuk);
    Ukrainian "uk" Some(Algorithm::Ukrainian), Some(Lang::Ukr);
    Urdu "ur" None, Some(Lang::Urd);
    Uzbek "uz" None, Some(Lang::Uzb);
    Vietnamese "vi" None, Some(Lang::Vie);
    Welsh "cy" None, Some(Lang::Cym);
    Yiddish "yi" Some(Algorithm::Yiddish), Some(Lang::Yid);
    Zulu "zu" None, Some(Lang::Zul);
}

impl Language {
    /// Parses an ISO 639-1 code in any case. Region and script subtags (`pt-BR`, `zh_Hant`) are ignored. `nb` and `nn`
    /// are Norwegian.
    pub fn from_code(code: &str) -> Option<Self> {
        let primary = code.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("nb") || primary.eq_ignore_ascii_case("nn") {
            return Some(Language::Norwegian);
        }
        Self::ALL.iter().copied().find(|language| primary.eq_ignore_ascii_case(language.code()))
    }

    /// Returns the stemming algorithm of a language, English if it has none.
    pub(super) fn algorithm(language: Option<Self>) -> Algorithm {
        language.and_then(Self::own_algorithm).unwrap_or(Algorithm::English)
    }
}

/// Number of bytes examined. Trigram statistics are stable after a few hundred characters; more only costs time.
const DETECTION_PREFIX: usize = 2048;

/// Returns the one code under which a language is stored and filtered: Norwegian has three. A code of an unknown language stays.
pub fn canonical_code(code: &str) -> String {
    Language::from_code(code).map_or_else(|| code.to_owned(), |language| language.code().to_owned())
}

/// Detects the language from the beginning of a text, if reliable.
pub fn detect(text: &str) -> Option<Language> {
    let prefix = &text[..text.floor_char_boundary(DETECTION_PREFIX)];
    let info = whatlang::detect(prefix)?;
    if info.is_reliable() { Language::of_detected(info.lang()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_are_distinct() {
        for language in Language::ALL {
            assert_eq!(Language::from_code(language.code()), Some(*language));
        }
        assert_eq!(Language::from_code("pt-BR"), Some(Language::Portuguese));
        assert_eq!(Language::from_code("NB"), Some(Language::Norwegian));
        assert_eq!(Language::from_code("xx"), None);
        assert_eq!(Language::from_code(""), None);
    }

    #[test]
    fn detects_clear_texts_and_rejects_unclear_ones() {
        let german = "Die Pumpe darf nur von geschultem Personal geöffnet werden, nachdem der Druck abgelassen wurde.";
        assert_eq!(detect(german), Some(Language::German));
        assert_eq!(detect("東京は日本の首都であり、世界最大の都市のひとつです。"), Some(Language::Japanese));
        assert_eq!(detect("กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย"), Some(Language::Thai));
        assert_eq!(detect(""), None);
        assert_eq!(detect("1234 5678"), None);
        assert_eq!(detect("ok"), None);
    }

    #[test]
    fn detection_prefix_ends_at_a_character_boundary() {
        assert_eq!(detect(&"я".repeat(5000)).map(Language::code), detect(&"я".repeat(1024)).map(Language::code));
    }
}
