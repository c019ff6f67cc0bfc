//! Numbers that texts write in words.

use super::numbers::SCALES;

/// Numbers below a thousand, in English, German, French, Spanish, Italian, Portuguese and Dutch. The first word is English.
const WORDS: [(f64, &str); 16] = [
    (13.0, "thirteen dreizehn treize trece tredici dertien"),
    (14.0, "fourteen vierzehn quatorze catorce quattordici catorze veertien"),
    (15.0, "fifteen fünfzehn quinze quince quindici vijftien"),
    (16.0, "sixteen sechzehn seize dieciséis sedici dezasseis dezesseis zestien"),
    (17.0, "seventeen siebzehn diecisiete diciassette dezassete dezessete zeventien"),
    (18.0, "eighteen achtzehn dieciocho diciotto dezoito achttien"),
    (19.0, "nineteen neunzehn diecinueve diciannove dezanove dezenove negentien"),
    (20.0, "twenty zwanzig vingt veinte venti vinte twintig"),
    (30.0, "thirty dreißig trente treinta trenta trinta dertig"),
    (40.0, "forty vierzig quarante cuarenta quaranta quarenta veertig"),
    (50.0, "fifty fünfzig cinquante cincuenta cinquanta cinquenta vijftig"),
    (60.0, "sixty sechzig soixante sesenta sessanta sessenta zestig"),
    (70.0, "seventy siebzig septante setenta settanta zeventig"),
    (80.0, "eighty achtzig ochenta ottanta oitenta tachtig"),
    (90.0, "ninety neunzig nonante noventa novanta negentig"),
    (100.0, "hundred hundert cent cien cento cem honderd"),
];

/// English words of the numbers from one.
const UNITS: [(f64, &str); 12] = [
    (1.0, "one"),
    (2.0, "two"),
    (3.0, "three"),
    (4.0, "four"),
    (5.0, "five"),
    (6.0, "six"),
    (7.0, "seven"),
    (8.0, "eight"),
    (9.0, "nine"),
    (10.0, "ten"),
    (11.0, "eleven"),
    (12.0, "twelve"),
];

/// Length in bytes of the longest word of a number.
const LONGEST: usize = 12;

/// Returns the numbers above twelve that a text writes in words. English words make up one number, whose beginnings are numbers
/// too: 200 and 250 of `two hundred and fifty`.
pub(super) fn numbers_in_words(text: &str) -> Vec<f64> {
    let mut number = Composed::default();
    // Two marks between words have an empty one between them, which ends a number.
    let words = text.split(|c: char| !c.is_alphabetic()).map(|word| match word.len() {
        1..=LONGEST => word.to_lowercase(),
        _ => String::new(),
    });
    words.filter_map(|word| number.read(&word).or_else(|| alone(&word))).filter(|number| *number > 12.0).collect()
}

/// Returns the number of a word of any language.
fn alone(word: &str) -> Option<f64> {
    WORDS.iter().find(|(_, words)| words.split(' ').any(|known| known == word)).map(|(number, _)| *number)
}

/// Returns the number of an English word below a hundred.
fn below_hundred(word: &str) -> Option<f64> {
    let english = WORDS.iter().filter(|(number, _)| *number < 100.0);
    let mut english = UNITS.iter().chain(english).map(|(number, words)| (*number, words.split(' ').next()));
    english.find(|(_, known)| *known == Some(word)).map(|(number, _)| number)
}

/// An English number, word by word.
#[derive(Clone, Copy, Debug, Default)]
struct Composed {
    /// Part in thousands and larger scales.
    scaled: f64,
    /// Part after these.
    rest: f64,
}

impl Composed {
    /// Reads the next word. Returns the number up to it, or `None` if it is not one of a number.
    fn read(&mut self, word: &str) -> Option<f64> {
        if word == "and" && self.rest % 100.0 == 0.0 {
            return None;
        }
        if let Some(number) = below_hundred(word) {
            let is_free = if number < 10.0 {
                self.rest % 10.0 == 0.0 && self.rest % 100.0 != 10.0
            } else {
                self.rest % 100.0 == 0.0
            };
            let before = if is_free { *self } else { Self::default() };
            *self = Self { rest: before.rest + number, ..before };
        } else if word == "a" {
            *self = Self { scaled: 0.0, rest: 1.0 };
            return None;
        } else if let "hundred" | "dozen" = word {
            let factor = if word == "dozen" { 12.0 } else { 100.0 };
            // After a hundred, another number has begun: `two hundred and three hundred`.
            self.rest = (self.rest % 100.0).max(1.0) * factor;
        } else if let Some((_, scale)) = SCALES.iter().find(|(known, _)| *known == word)
            && (self.rest > 0.0 || *scale <= 1000.0)
        {
            // A scale is smaller than those before it.
            let before = if self.scaled < scale * 1000.0 { 0.0 } else { self.scaled };
            *self = Self { scaled: before + self.rest.max(1.0) * scale, rest: 0.0 };
        } else {
            *self = Self::default();
            return None;
        }
        Some(self.scaled + self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_up_numbers() {
        for (text, expected) in [
            ("eighteen months", &[18.0][..]),
            ("Twenty-five rooms", &[20.0, 25.0]),
            ("two hundred and fifty staff", &[200.0, 250.0]),
            ("three million users, a billion views", &[3e6, 1e9]),
            ("forty-two thousand one hundred", &[40.0, 42.0, 42_000.0, 42_001.0, 42_100.0]),
            ("two hundred and three hundred", &[200.0, 203.0, 300.0]),
            ("two million three thousand", &[2e6, 2_000_003.0, 2_003_000.0]),
            ("two thousand and three thousand", &[2000.0, 2003.0, 3000.0]),
            ("twenty, five; thirty two", &[20.0, 30.0, 32.0]),
            ("two dozen eggs, a dozen more", &[24.0]),
            ("a hundred, some hundred, thousand, mille, duizend", &[100.0, 100.0, 1000.0, 1000.0, 1000.0]),
            ("achtzehn, dieciocho, cent", &[18.0, 18.0, 100.0]),
            ("5.2 million, millions of one, ten and eleven", &[]),
            ("", &[]),
        ] {
            assert_eq!(numbers_in_words(text), expected, "{text}");
        }
        let long = numbers_in_words(&"ninety hundred dozen trillion ".repeat(20_000));
        assert!(long.iter().all(|number| number.is_finite()));
    }
}
