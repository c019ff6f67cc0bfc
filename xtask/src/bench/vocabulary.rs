//! Generated words and prose.

use super::random::Random;
use std::collections::HashSet;

const ONSETS: &[&str] = &[
    "b", "br", "c", "ch", "d", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v",
    "w", "z",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const CODAS: &[&str] = &["", "", "", "l", "m", "n", "r", "s", "t", "nd", "rk"];

/// Generates `count` different words of ASCII letters; earlier words are more frequent and shorter.
pub fn vocabulary(random: &mut Random, count: usize) -> Vec<String> {
    let mut seen = HashSet::with_capacity(count);
    let mut words = Vec::with_capacity(count);
    while words.len() < count {
        let syllables = match words.len() {
            0..200 => 1,
            200..5_000 => 2,
            _ => random.between(2, 4),
        };
        let mut word = String::new();
        for _ in 0..syllables {
            for part in [ONSETS, VOWELS, CODAS] {
                word.push_str(part[random.below(part.len())]);
            }
        }
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

/// Returns paragraphs of three to six sentences of drawn words, at least `chars` bytes in all.
pub fn prose<'w>(random: &mut Random, chars: usize, mut draw: impl FnMut(&mut Random) -> &'w str) -> String {
    let mut text = String::with_capacity(chars + 200);
    let mut sentences = 0;
    let mut paragraph = random.between(3, 6);
    while text.len() < chars {
        if sentences == paragraph {
            text.push_str("\n\n");
            (sentences, paragraph) = (0, random.between(3, 6));
        } else if sentences > 0 {
            text.push(' ');
        }
        let count = random.between(6, 18);
        text.push_str(&capitalized(&words(random, count, &mut draw)));
        text.push('.');
        sentences += 1;
    }
    text
}

/// Returns `count` drawn words, separated by spaces.
pub fn words<'w>(random: &mut Random, count: usize, mut draw: impl FnMut(&mut Random) -> &'w str) -> String {
    let mut words = String::new();
    for number in 0..count {
        if number > 0 {
            words.push(' ');
        }
        words.push_str(draw(random));
    }
    words
}

pub fn capitalized(words: &str) -> String {
    let mut text = words.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}
