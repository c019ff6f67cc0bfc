use tantivy::TantivyError;

/// Does the first part of some work on this thread and each other on a thread of its own. Returns all results.
pub fn join<Part: Send, T: Send>(
    first: Part,
    others: impl Iterator<Item = Part>,
    work: &(impl Fn(Part) -> Vec<T> + Sync),
) -> tantivy::Result<Vec<T>> {
    std::thread::scope(|scope| {
        let others: Vec<_> = others.map(|part| scope.spawn(move || work(part))).collect();
        let mut results = work(first);
        for other in others {
            let panicked = |_| TantivyError::ErrorInThread("a search of vectors panicked".to_owned());
            results.extend(other.join().map_err(panicked)?);
        }
        Ok(results)
    })
}
