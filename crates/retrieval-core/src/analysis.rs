//! Text to terms: the one analysis that indexing, first-stage search and reranking share.
