use super::analyzer::TokenKind;

/// Token of a query with its stems under all queried languages.
pub(super) struct QueryToken {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    pub word: String,
    pub variants: Vec<String>,
}

impl QueryToken {
    pub(super) fn add_variant(&mut self, stem: &str) {
        if !self.variants.iter().any(|known| known == stem) {
            self.variants.push(stem.to_owned());
        }
    }
}
