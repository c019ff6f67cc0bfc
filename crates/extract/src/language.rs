//! Language of a text: declared or detected.

use whatlang::Lang;

/// Number of characters examined.
const SAMPLE: usize = 4_000;

/// Returns the ISO 639-1 code of the text's language if the detection is reliable.
pub(crate) fn detect(text: &str) -> Option<String> {
    let end = text.char_indices().nth(SAMPLE).map_or(text.len(), |(at, _)| at);
    let info = whatlang::detect(&text[..end])?;
    info.is_reliable().then(|| two_letters(info.lang()).to_owned())
}

/// All ISO 639-1 codes.
const CODES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv \
    dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it \
    iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb \
    nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss \
    st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

/// Returns the primary subtag of a BCP 47 tag such as `pt-BR` or `en_US`, if it is an ISO 639-1 code. The common
/// mistake `jp` is not one.
pub(crate) fn from_tag(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_', ',', ';']).next()?.to_ascii_lowercase();
    CODES.split_whitespace().any(|code| code == primary).then_some(primary)
}

/// Maps the detector's languages (ISO 639-3) to ISO 639-1 codes.
fn two_letters(lang: Lang) -> &'static str {
    match lang {
        Lang::Epo => "eo",
        Lang::Eng => "en",
        Lang::Rus => "ru",
        Lang::Cmn => "zh",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ita => "it",
        Lang::Ben => "bn",
        Lang::Fra => "fr",
        Lang::Deu => "de",
        Lang::Ukr => "uk",
        Lang::Kat => "ka",
        Lang::Ara => "ar",
        Lang::Hin => "hi",
        Lang::Jpn => "ja",
        Lang::Heb => "he",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Amh => "am",
        Lang::Jav => "jv",
        Lang::Kor => "ko",
        Lang::Nob => "no",
        Lang::Dan => "da",
        Lang::Swe => "sv",
        Lang::Fin => "fi",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Hun => "hu",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Bul => "bg",
        Lang::Bel => "be",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Ron => "ro",
        Lang::Slv => "sl",
        Lang::Hrv => "hr",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Tam => "ta",
        Lang::Vie => "vi",
        Lang::Urd => "ur",
        Lang::Tha => "th",
        Lang::Guj => "gu",
        Lang::Uzb => "uz",
        Lang::Pan => "pa",
        Lang::Aze => "az",
        Lang::Ind => "id",
        Lang::Tel => "te",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Ori => "or",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Sin => "si",
        Lang::Khm => "km",
        Lang::Tuk => "tk",
        Lang::Aka => "ak",
        Lang::Zul => "zu",
        Lang::Sna => "sn",
        Lang::Afr => "af",
        Lang::Lat => "la",
        Lang::Slk => "sk",
        Lang::Cat => "ca",
        Lang::Tgl => "tl",
        Lang::Hye => "hy",
        Lang::Cym => "cy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_detected() {
        let english = "The committee approved the annual budget after a long discussion about the costs of housing.";
        let german = "Der Ausschuss hat den Haushalt nach einer langen Diskussion über die Kosten beschlossen.";
        assert_eq!(detect(english).as_deref(), Some("en"));
        assert_eq!(detect(german).as_deref(), Some("de"));
        assert_eq!(detect("これは日本語の文書です。").as_deref(), Some("ja"));
        assert_eq!(detect("1234 5678"), None);
    }

    #[test]
    fn language_tags_are_reduced_to_primary_subtag() {
        assert_eq!(from_tag("pt-BR").as_deref(), Some("pt"));
        assert_eq!(from_tag("EN_us").as_deref(), Some("en"));
        assert_eq!(from_tag("x-default"), None);
        assert_eq!(from_tag(""), None);
    }
}
