//! Pages with one article.

use super::{prose, reads, site};

#[test]
fn article_drops_boilerplate() {
    let body = format!(
        "<div class='wrapper'><main><article><h1>The bridge at Low Ford</h1>\
         <p class='byline'>By <a href='/people/ann'>Ann Author</a></p>{}\
         <div class='share-buttons'><a href='#'>Share on Chirper</a></div>{}\
         <figure><img src='/bridge.jpg' alt='A bridge'><figcaption>The bridge in 1911.</figcaption></figure>\
         <h2>What comes next</h2>{}</article>\
         <aside class='sidebar'><h3>Most read</h3><ul><li><a href='/1'>Cat stuck in tree</a></li><li><a href='/2'>Tree stuck in cat</a></li></ul></aside>\
         <section class='related-articles'><h3>Related</h3><p>{}</p></section></main></div>",
        prose("the bridge"),
        prose("its bearings"),
        prose("the toll"),
        "Ten bridges that are older than they look, and the people who look after them, in pictures.",
    );
    reads(
        &site("The bridge at Low Ford", &body),
        &[
            "# The bridge at Low Ford",
            "thought about the bridge",
            "about its bearings",
            "## What comes next",
            "about the toll",
            "![The bridge in 1911.](https://example.org/bridge.jpg)",
        ],
        &["Chirper", "Cat stuck", "Ten bridges"],
    );
}

#[test]
fn text_in_divs_and_between_line_breaks_is_read() {
    let text = |about: &str| prose(about).replace("<p>", "").replace("</p>", "");
    let divs =
        format!("<div id='c'><div>{}</div><div>{}</div><div>{}</div></div>", text("salt"), text("rust"), text("paint"));
    reads(&site("Divs", &divs), &["about salt,", "about rust,", "about paint,"], &[]);
    let breaks = format!(
        "<div id='c'><b>Old notes</b><br><br>{}<br><br>{}<br>\n<br>{}</div>",
        text("salt"),
        text("rust"),
        text("paint")
    );
    let markdown = reads(&site("Breaks", &breaks), &["about salt,", "about paint,"], &[]);
    let paragraphs = markdown.split("\n\n").filter(|block| block.contains("For many years")).count();
    assert_eq!(paragraphs, 3, "two line breaks end a paragraph:\n{markdown}");
}

#[test]
fn cookie_banner_is_dropped() {
    let banner = "<div id='cookie-consent-banner'><h2>We value your privacy</h2><p>We and our 823 partners store and access information on your device, such as cookies, and process personal data for the purposes described below.</p><button>Accept all</button></div>";
    let body = format!("{banner}<div class='content'><h1>Low Ford</h1>{}{}</div>", prose("salt"), prose("rust"));
    let markdown =
        reads(&site("Low Ford", &body), &["about salt,", "about rust,"], &["823 partners", "We value", "Accept all"]);
    assert!(markdown.starts_with("# Low Ford"), "{markdown}");
    // The same text without a revealing class, at the end, as a dialog.
    let body = format!(
        "<main><h1>Low Ford</h1>{}{}</main><div role='dialog' aria-label='Privacy'><p>We and our 823 partners store and access information on your device.</p></div>",
        prose("salt"),
        prose("rust")
    );
    reads(&site("Low Ford", &body), &["about salt,"], &["823 partners"]);
}

#[test]
fn live_ticker_keeps_entries() {
    let entry = |time: &str, about: &str| {
        format!(
            "<div class='ticker-entry'><time datetime='2024-03-01T{time}:00Z'>{time}</time><h3>News of {about}</h3><p>Rescuers reported shortly before {time} that {about} could be brought to safety, and thanked all who had helped through the night.</p></div>"
        )
    };
    let body = format!(
        "<main><h1>Flood: live</h1><div class='ticker'>{}{}{}</div></main>",
        entry("10:15", "the sheep"),
        entry("09:40", "the ferry"),
        entry("08:05", "the mill")
    );
    reads(&site("Flood: live", &body), &["### News of the sheep", "the ferry could be", "the mill could be"], &[]);
}

#[test]
fn wiki_page_keeps_sections_and_drops_tools() {
    let body = format!(
        "<div id='content' class='mw-body'><h1 id='firstHeading'>Low Ford</h1><div id='bodyContent'><div id='siteSub' class='noprint'>From the example encyclopedia</div>\
         <a class='mw-jump-link' href='#p-search'>Jump to search</a><div class='mw-parser-output'>\
         <table class='infobox'><tr><th colspan='2'>Low Ford</th></tr><tr><th scope='row'>River</th><td>Example</td></tr><tr><th scope='row'>Built</th><td>1911</td></tr></table>{}\
         <div id='toc' class='toc' role='navigation'><h2>Contents</h2><ul><li><a href='#History'>1 History</a></li><li><a href='#Use'>2 Use</a></li></ul></div>\
         <h2><span class='mw-headline' id='History'>History</span><span class='mw-editsection'>[<a href='/w/edit?section=1'>edit</a>]</span></h2>{}\
         <p>It was closed in 1953.<sup id='cite_ref-1' class='reference'><a href='#cite_note-1'>[1]</a></sup></p>\
         <h2><span class='mw-headline' id='Use'>Use</span><span class='mw-editsection'>[<a href='/w/edit?section=2'>edit</a>]</span></h2>{}\
         <ol class='references'><li id='cite_note-1'><span class='mw-cite-backlink'><a href='#cite_ref-1'>^</a></span> Ann Author, A history of fords, 1987.</li></ol>\
         </div><div id='catlinks'><a href='/c/1'>Bridges</a> <a href='/c/2'>Fords</a></div></div></div>\
         <div id='mw-navigation'><ul><li><a href='/random'>Random page</a></li><li><a href='/changes'>Recent changes</a></li></ul></div>",
        prose("the ford"),
        prose("its history"),
        prose("its use"),
    );
    reads(
        &site("Low Ford", &body),
        &["## History\n", "## Use\n", "| Built | 1911 |", "closed in 1953", "A history of fords, 1987"],
        &["Jump to search", "edit]", "Random page", "1 History", "^"],
    );
}

#[test]
fn recipe_keeps_ingredients_and_steps() {
    let body = "<main><article class='recipe'><h1>Plum cake</h1><p>A cake for the end of summer that needs no machine, keeps for three days in a tin, and is better on the second than on the first.</p>\
         <div class='recipe-meta'>Serves 8</div><h2>Ingredients</h2><ul class='ingredients'><li>300 g flour</li><li>150 g butter</li><li>1 kg plums</li></ul>\
         <h2>Method</h2><ol><li>Rub the butter into the flour until it looks like crumbs, add the egg, and let the dough rest in a cool place for half an hour.</li><li>Roll it out, lay it into the tin and set the plums upon it, close together and cut side up.</li><li>Bake for forty minutes at 180 degrees.</li></ol></article></main>";
    reads(
        &site("Plum cake", body),
        &[
            "# Plum cake",
            "- 300 g flour\n- 150 g butter\n- 1 kg plums",
            "1. Rub the butter",
            "3. Bake for forty minutes",
        ],
        &[],
    );
}

#[test]
fn pages_in_other_scripts_are_read() {
    let arabic = "<p>يقع الجسر القديم عند المخاضة في أسفل الوادي، وقد بُني قبل أكثر من مئة عام، وما زال الناس يعبرونه كل يوم في طريقهم إلى السوق. وفي الربيع يرتفع الماء حتى يغطي الطريق، فيُغلق الجسر أياماً.</p>";
    let hebrew = "<p>הגשר הישן עומד ליד המעבר שבתחתית העמק, ונבנה לפני יותר ממאה שנים. גם היום עוברים בו אנשים בכל יום בדרכם אל השוק, ובאביב המים עולים עד שהם מכסים את הדרך והגשר נסגר לימים אחדים.</p>";
    let japanese = "<p>谷のいちばん低いところに古い橋がある。百年以上前に架けられたもので、今でも毎日多くの人が市場へ行くために渡っている。春になると水かさが増して道が水に隠れ、橋は数日のあいだ通行止めになる。</p>";
    for (language, direction, text) in [("ar", "rtl", arabic), ("he", "rtl", hebrew), ("ja", "ltr", japanese)] {
        let page = format!(
            "<html lang='{language}' dir='{direction}'><body><nav><a href='/'>NAV</a></nav><div class='entry-content'><h1>NAME</h1>{text}{}{}</div><div class='sidebar'><a href='/x'>SIDE</a></div></body></html>",
            text.replacen("<p>", "<p>1. ", 1),
            text.replacen("<p>", "<p>2. ", 1),
        );
        let inner = text.trim_start_matches("<p>").trim_end_matches("</p>");
        let markdown = reads(&page, &[inner], &["NAV", "SIDE"]);
        assert_eq!(markdown.matches(inner).count(), 3, "{markdown}");
        assert_eq!(super::web(&page).language.as_deref(), Some(language));
    }
}

#[test]
fn footnotes_stay_with_their_text() {
    let body = format!(
        "<article><h1>Notes</h1>{}<p>The toll was a penny.<sup><a href='#fn1' id='r1'>1</a></sup></p>{}<hr><ol class='footnotes'><li id='fn1'>Council minutes of 4 May 1911, page 12. <a href='#r1'>↩</a></li><li id='fn2'>Nobody ever paid it, see the accounts of the same year. <a href='#r2'>↩</a></li></ol></article>",
        prose("the toll"),
        prose("the penny"),
    );
    reads(&site("Notes", &body), &["a penny.1", "1. Council minutes of 4 May 1911", "2. Nobody ever paid it"], &["↩"]);
}

#[test]
fn short_text_at_the_end_is_kept_and_labels_are_dropped() {
    let article = |end: &str| {
        let text = format!("<h1>The bridge</h1>{}{}", prose("salt"), prose("rust"));
        site("The bridge", &format!("<article>{text}{end}</article>"))
    };
    for (end, kept) in [
        ("<h3>Answer</h3><p>1492</p>", "### Answer\n\n1492"),
        ("<h2>Total cost</h2><div> </div><p>4,200 euros</p>", "## Total cost\n\n4,200 euros"),
        ("<h2>Makers</h2><p>Ann Author</p><p>Bob Builder</p>", "## Makers\n\nAnn Author\n\nBob Builder"),
        ("<p>Phone: +49 30 123456</p><p>Mail: press@acme.example</p>", "123456\n\nMail: press@acme.example"),
        ("<p>ประชาชนทุกคนปลอดภัยดี</p>", "ประชาชนทุกคนปลอดภัยดี"),
        ("<p>「もう帰ろう」</p>", "「もう帰ろう」"),
        ("<p>‘Let us go home’</p>", "‘Let us go home’"),
    ] {
        reads(&article(end), &[kept], &[]);
    }
    for (end, dropped) in [
        ("<p>Politics</p>", "Politics"),
        ("<h3>Topics of the day</h3>", "Topics"),
        ("<p>By Ann Author</p><p>4 May 2024, 10:15</p>", "Ann Author"),
        ("<p>01/02/24 10:15:30</p>", "10:15"),
        ("<p>1,234 views</p>", "views"),
        ("<p>Ask @lowford</p>", "lowford"),
        ("<h2>Answer</h2><p>Nobody knows any more.</p><p>Politics</p>", "Politics"),
    ] {
        reads(&article(end), &["about rust,"], &[dropped]);
    }
}
