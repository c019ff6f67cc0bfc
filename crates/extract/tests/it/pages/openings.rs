//! Parts of an article that stand apart from its text: introductions, ingredients.

use super::{prose, reads, site};

const LEAD: &str =
    "After forty years of talk the council has decided that the bridge is to be painted, and in which colour.";

fn with_opening(opening: &str) -> String {
    let body = format!(
        "<main><article><header><h1>The bridge at Low Ford</h1>{opening}</header><div class='article-body'>{}{}{}</div></article></main>",
        prose("salt"),
        prose("rust"),
        prose("paint")
    );
    site("The bridge at Low Ford", &body)
}

#[test]
fn introduction_below_the_headline_is_kept() {
    for opening in [
        format!("<p>{LEAD}</p>"),
        format!("<div class='teaser-text' itemprop='description'><p>{LEAD}</p></div>"),
        format!("<p class='article-excerpt'>{LEAD}</p>"),
        format!("<h2 class='intro'>{LEAD}</h2>"),
        format!("<div class='vorspann'><img src='/1.jpg'><p>{LEAD}</p></div>"),
        format!("<p class='article__chapo'>{LEAD}</p>"),
    ] {
        let markdown = reads(&with_opening(&opening), &[LEAD, "about paint,"], &[]);
        assert!(markdown.find(LEAD) < markdown.find("about salt,"), "{markdown}");
    }
}

#[test]
fn byline_teaser_and_repeated_introduction_are_not_taken_for_one() {
    for opening in [
        "<p class='byline'>By Ann Author and Bob Writer, who have lived at Low Ford for longer than the bridge.</p>".to_owned(),
        "<div class='teaser'><a href='/1'>A mill burns down</a><p>Nobody was hurt when the mill burned down in the night of Sunday.</p></div>".to_owned(),
        "<p>Short.</p>".to_owned(),
    ] {
        reads(&with_opening(&opening), &["about salt,"], &["Ann Author", "Nobody was hurt", "Short."]);
    }
    let start = "For many years nobody in the valley had thought about salt, and those who had were not asked.";
    let markdown = reads(&with_opening(&format!("<p>{start}</p>")), &[start], &[]);
    assert_eq!(markdown.matches(start).count(), 1, "{markdown}");
}

#[test]
fn ingredients_beside_the_steps_are_kept() {
    let body = format!(
        "<main><h1>Plum cake</h1><article class='box'><h2>Ingredients</h2><table class='ingredients'><tr><td>300 g</td><td>flour</td></tr><tr><td>1 kg</td><td>plums</td></tr></table></article>\
         <article class='box'><h2>Method</h2>{}{}</article><article class='box'><p>Rated 4 of 5</p></article></main>",
        prose("the dough"),
        prose("the plums")
    );
    let markdown = reads(&site("Plum cake", &body), &["Ingredients", "300 g", "1 kg", "about the dough,"], &[]);
    assert!(markdown.find("300 g") < markdown.find("about the dough,"), "{markdown}");
}

#[test]
fn declared_content_of_a_short_page_is_read_alone() {
    let body = "<div class='wrap'><div class='x1'><p>Latest from the valley</p></div><article class='entry-content'><p>橋は今日から通れます。</p><p>通行料は一ペニーで、渡し船は家にいます。春になると水かさが増して道が水に隠れます。</p></article><div class='x2'><p>Opening hours of the office</p></div></div>";
    reads(
        &site("橋", body),
        &["橋は今日から通れます。", "渡し船は家にいます"],
        &["Latest from the valley", "Opening hours"],
    );
}

#[test]
fn pronunciation_of_characters_is_not_repeated() {
    let body = format!(
        "<main><h1>橋</h1><p><ruby>古<rp>(</rp><rt>ふる</rt><rp>)</rp></ruby>い<ruby>橋<rt>はし</rt></ruby>がある。</p>{}{}</main>",
        prose("salt"),
        prose("rust")
    );
    reads(&site("橋", &body), &["古い橋がある。"], &["ふる"]);
}
