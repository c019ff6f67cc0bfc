use proptest::prelude::*;

use super::*;
use crate::phrase::Phrases;

/// Returns the whole index of a document whose sections are these texts.
fn indexed(sections: &[String]) -> Buckets {
    let mut starts = Vec::new();
    let mut content = String::new();
    for section in sections {
        starts.push(content.len());
        content.push_str(section);
    }
    index(&content, &starts, Some("en")).into_iter().enumerate().collect()
}

fn filler(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("The pump number{number} is painted blue. ")).collect()
}

#[test]
fn sections_with_rare_words_come_first() {
    let mut sections = filler(300);
    sections[7].push_str("Grease the bearings. ");
    sections[298].push_str("The bearing of a walrus. ");
    let buckets = indexed(&sections);
    let best = |query: &str| SectionQuery::new(query, Some("en"), sections.len()).best(&buckets);
    assert_eq!(best("which bearing does the walrus have"), [298, 7]);
    assert_eq!(best("greasing"), [7], "words are stemmed");
    assert_eq!(best("blue walrus")[0], 298);
    assert_eq!(best("blue").len(), 300);
    assert!(best("submarine").is_empty() && best("").is_empty());
}

#[test]
fn words_of_a_query_are_found_in_documents_of_any_length() {
    let words = QueryWords::new("greasing walrus", Some("en"));
    for count in [2, 20, 300] {
        let mut sections = filler(count);
        sections[count - 1].push_str("Grease the walrus. ");
        assert_eq!(words.among(count).best(&indexed(&sections)), [count - 1]);
    }
}

#[test]
fn a_query_reads_few_buckets() {
    let sections = filler(2_000);
    let buckets = indexed(&sections);
    assert_eq!(buckets.len(), bucket_count(2_000));
    let query = SectionQuery::new("pump number1234", None, 2_000);
    let asked = query.buckets();
    assert!(asked.len() <= 4, "{asked:?}");
    let read: Buckets = asked.into_iter().map(|bucket| (bucket, buckets[&bucket].clone())).collect();
    assert_eq!(query.best(&read)[0], 1234);
}

#[test]
fn phrases_across_a_boundary_are_found() {
    let mut sections = filler(50);
    sections[20].push_str("At the end the quick ");
    sections[21].insert_str(0, "brown fox. ");
    sections[40].push_str("A fox that is quick. ");
    let buckets = indexed(&sections);
    let runs = |phrase: &str| -> Vec<(usize, usize)> {
        PhraseSections::new(phrase.split('|'), 50).runs(&buckets).iter().map(|run| (run.start, run.end)).collect()
    };
    assert_eq!(runs("quick brown fox"), [(20, 22)]);
    assert_eq!(runs("is quick"), [(19, 22), (39, 42)], "a common and a rare word");
    assert!(runs("quick green fox").is_empty() && runs("...").is_empty());
    assert_eq!(runs("quick brown|number0"), [(0, 1), (20, 22)]);
}

#[test]
fn long_phrases_across_a_boundary_are_found() {
    let long = "compressors generators transformers condensers evaporators regulators separators accumulators";
    for (before, after) in [(long, "it or so"), ("it or so", long)] {
        let mut sections = filler(50);
        sections[20].push_str(before);
        sections[21].insert_str(0, &format!(" {after}. "));
        let runs = PhraseSections::new([format!("{before} {after}").as_str()], 50).runs(&indexed(&sections));
        assert!(runs.iter().any(|run| run.start <= 20 && run.end >= 22), "{runs:?}");
    }
}

#[test]
fn damaged_buckets_do_no_harm() {
    let sections = filler(20);
    for damage in [vec![0xff; 40], vec![1, 2, 3], Vec::new(), vec![0; 64]] {
        let buckets: Buckets = (0..bucket_count(20)).map(|bucket| (bucket, damage.clone())).collect();
        assert!(SectionQuery::new("pump blue", None, sections.len()).best(&buckets).len() <= 20);
        PhraseSections::new(["pump blue"], sections.len()).runs(&buckets);
    }
}

proptest! {
    #[test]
    fn no_section_with_a_match_is_missed(
        sections in prop::collection::vec("(?s)[a-c é日本. \n-]{0,30}", 1..8),
        query in "[a-c é日本 -]{1,8}",
    ) {
        let buckets = indexed(&sections);
        let best = SectionQuery::new(&query, Some("en"), sections.len()).best(&buckets);
        prop_assert!(best.iter().all(|section| *section < sections.len()));
        let runs = PhraseSections::new([query.as_str()], sections.len()).runs(&buckets);
        let mut phrases = Phrases::new([query.as_str()]);
        for (number, section) in sections.iter().enumerate() {
            if phrases.any_in(section, Some("en")) {
                prop_assert!(runs.iter().any(|run| run.contains(&number)), "{runs:?} without {number}");
            }
        }
    }
}
