//! Boilerplate in and around an article that no reader came for.

use super::{prose, reads, site};

/// Wraps an article in a page; `inside` follows its last paragraph.
fn article(inside: &str) -> String {
    site(
        "Low Ford",
        &format!(
            "<main><article><h1>The bridge at Low Ford</h1><div class='copy'>{}{}{}{inside}</div></article></main>",
            prose("salt"),
            prose("rust"),
            prose("paint")
        ),
    )
}

const KEPT: [&str; 3] = ["about salt,", "about rust,", "about paint,"];

#[test]
fn headed_teasers_are_dropped_in_many_languages() {
    for heading in [
        "Related articles",
        "You might also like",
        "Mehr zum Thema Wasser",
        "Das könnte Sie auch interessieren",
        "À lire aussi",
        "Te puede interesar",
        "Leia também",
        "Leggi anche",
        "Lees ook",
        "Czytaj także",
        "Читайте также",
        "関連記事",
        "相关阅读",
        "관련기사",
    ] {
        let teasers = format!(
            "<div><h3>{heading}</h3><div><a href='/1'>A mill burns down</a><p>Nobody was hurt in the night.</p></div>\
             <div><a href='/2'>A mill is built up</a><p>Everybody came to see it.</p></div></div>"
        );
        reads(&article(&teasers), &KEPT, &[heading, "A mill burns", "Nobody was hurt", "Everybody came"]);
    }
}

#[test]
fn text_before_a_heading_of_links_is_kept() {
    // Editors leave empty paragraphs before the label.
    let inside = format!(
        "<div class='part'>{}<p></p><p><strong>DON'T MISS</strong></p><p><a href='/1'>A mill burns down in the night</a></p></div>",
        prose("tar")
    );
    reads(&article(&inside), &["about tar,"], &["DON'T MISS", "A mill burns"]);
}

/// Returns `count` truncated teasers in elements of this name.
fn teasers(count: usize, name: &str) -> String {
    (1..=count)
        .map(|n| {
            format!(
                "<{name} class='post-{n} entry'><a href='/{n}'>The mill number {n} burns</a> LOW FORD: In the night of Sunday a mill caught fire for the {n}th time, and those who came to help...</{name}>"
            )
        })
        .collect()
}

#[test]
fn truncated_teasers_beside_an_article_are_dropped() {
    for column in [
        format!(
            "<div class='a1'><div class='a2'><b>Breaking news</b></div><div class='a3'><ul>{}</ul></div></div>",
            teasers(5, "li")
        ),
        format!("<div class='a1'>{}</div>", teasers(4, "div")),
    ] {
        let body = format!(
            "<div class='left'>{column}<div class='copy'><h1>The bridge at Low Ford</h1>{}{}</div></div>",
            prose("salt"),
            prose("rust")
        );
        reads(&site("Low Ford", &body), &["about salt,", "about rust,"], &["Breaking news", "The mill number"]);
    }
    // Without an article they are the content.
    let body = format!("<main><h1>Mills</h1><p>All that burned.</p><ul>{}</ul></main>", teasers(6, "li"));
    reads(&site("Mills", &body), &["The mill number 1 burns", "for the 6th time"], &[]);
    // Two quotations that break off are none.
    let inside = format!("<ul>{}</ul>", teasers(2, "li"));
    reads(&article(&inside), &["for the 1th time", "for the 2th time"], &[]);
}

#[test]
fn further_articles_below_an_article_are_dropped() {
    let others = |heading: &str| {
        format!(
            "<h3>{heading}</h3><article class='post'>{}</article><article class='post'>{}</article>",
            prose("tar"),
            prose("wax")
        )
    };
    reads(&article(&others("You might also like ...")), &KEPT, &["You might also like", "about tar,", "about wax,"]);
    reads(&article(&others("The other banks")), &["about salt,", "about tar,", "about wax,"], &[]);
    // Without an article above them they are the content.
    let body = format!("<main><div><h1>Low Ford</h1>{}</div></main>", others("Latest posts"));
    reads(&site("Low Ford", &body), &["about tar,", "about wax,"], &[]);
}

#[test]
fn date_above_the_text_is_dropped_and_dates_inside_stay() {
    let dated = |date: &str| format!("<div class='a1'><span>Updated:</span> <time>{date}</time></div>");
    let body = format!(
        "<main><article><div class='copy'>{}<p>On <time>5 May 1911</time> it began.</p>{}{}{}</div></article></main>",
        dated("4 May 1911"),
        prose("salt"),
        dated("6 May 1911"),
        prose("rust")
    );
    reads(&site("Low Ford", &body), &["5 May 1911", "about salt,", "6 May 1911", "about rust,"], &["4 May 1911"]);
}

#[test]
fn paragraphs_that_lead_to_another_article_are_dropped() {
    let lead = "<p><strong>Read more:</strong> <a href='/1'>A mill burns down</a></p>\
                <p>LE PUEDE INTERESAR: <a href='/2'>El molino del valle</a></p>";
    reads(&article(&format!("{lead}{}", prose("tar"))), &["about tar,"], &["mill burns", "El molino"]);
}

#[test]
fn heading_of_removed_links_is_dropped_and_other_headings_stay() {
    let links = "<h3>Elsewhere</h3><ul><li><a href='/1'>A mill burns down</a></li><li><a href='/2'>A mill is built</a></li></ul>";
    let inside = format!("{links}<h3>What comes next</h3>{}", prose("tar"));
    reads(&article(&inside), &["### What comes next", "about tar,"], &["Elsewhere", "mill burns"]);
    // A heading that begins like a phrase, above running text.
    let inside = format!("<h2>Related work in three counties</h2>{}", prose("tar"));
    reads(&article(&inside), &["## Related work in three counties", "about tar,"], &[]);
    let inside = format!("<h2>Comments</h2>{}{}{}{}", prose("tar"), prose("wax"), prose("oil"), prose("glue"));
    reads(&article(&inside), &["## Comments", "about tar,", "about glue,"], &[]);
}

#[test]
fn list_of_links_that_a_sentence_announces_is_kept() {
    let list =
        "<ul><li><a href='https://pg.example'>PostgreSQL</a></li><li><a href='https://my.example'>MySQL</a></li></ul>";
    for announcement in ["The driver works with these databases:", "该驱动程序支持以下数据库："] {
        let inside = format!("<h2>Databases</h2><p>{announcement}</p><p> </p>{list}<p>Each needs a port.</p>");
        let start = format!("## Databases\n\n{announcement}\n\n- [PostgreSQL](");
        reads(&article(&format!("{inside}{}", prose("tar"))), &[&start, "[MySQL](", "Each needs a port."], &[]);
        // At the end of an article it leads to other articles.
        reads(&article(&format!("<p>{announcement}</p>{list}")), &KEPT, &[announcement, "PostgreSQL", "MySQL"]);
    }
    for label in ["Read also:", "More on bridges:", "You may also like these other stories:", "相关链接："] {
        let inside = format!("<p>{label}</p>{list}{}", prose("tar"));
        reads(&article(&inside), &["about tar,"], &[label, "PostgreSQL", "MySQL"]);
    }
}

#[test]
fn last_list_with_words_beside_its_links_is_kept() {
    let entry = |n: u32| {
        format!(
            "<li>Fix ford {n} by <a href='https://x.example/ann'>@ann</a> in <a href='https://x.example/{n}'>#10{n}</a></li>"
        )
    };
    let notes = format!("<ul>{}{}</ul>", entry(1), entry(2));
    let files =
        "<ul><li><a href='/a.pdf'>Form A</a> (PDF, 200 KB)</li><li><a href='/b.pdf'>Form B</a> (PDF, 1 MB)</li></ul>";
    for (heading, list, last) in [
        ("<h2>What has changed</h2>", notes.as_str(), "#102"),
        ("<div class='markdown-heading'><h2>What has changed</h2></div>", &notes, "#102"),
        ("<p>Documents you need:</p>", files, "1 MB"),
        ("<h2>Documents you need</h2><p></p>", files, "1 MB"),
    ] {
        let text = heading.split(['<', '>']).find(|part| part.contains(' ') && !part.contains('=')).expect("a heading");
        for inside in [format!("{heading}{list}"), format!("{heading}<div><div>{list}</div></div>")] {
            reads(&article(&inside), &[text, "/a", last], &[]);
        }
    }
    // Whole sentences stay behind a paragraph.
    let sentences = "<ul><li>Reading a file without a line break at its end no longer fails, see <a href='/1'>the long issue on empty files</a></li>\
                     <li>Searching for a word of one letter no longer takes a minute, see <a href='/2'>the long issue on short words</a></li></ul>";
    reads(&article(sentences), &["Reading a file", "takes a minute"], &[]);
    reads(&article(&format!("<hr>{sentences}")), &KEPT, &["Reading a file", "takes a minute"]);
    reads(&article(&format!("<p>More from the town</p>{sentences}")), &KEPT, &["Reading a file", "takes a minute"]);
    // Teasers do not, and neither do lists that are links below a heading.
    let teasers = "<ul><li><a href='/1'>A mill burns down</a> 4 May 1911</li><li><a href='/2'>A mill is built</a> 5 May 1911</li></ul>";
    for heading in ["", "<h3>Related articles</h3>", "<p>Read also:</p>"] {
        reads(&article(&format!("{heading}{teasers}")), &KEPT, &["Related", "Read also", "mill burns", "5 May"]);
    }
    let links = "<h3>Elsewhere</h3><ul><li><a href='/1'>A mill burns down</a> (1)</li><li><a href='/2'>A mill is built</a> (2)</li></ul>";
    reads(&article(links), &KEPT, &["Elsewhere", "mill burns"]);
}

#[test]
fn heading_above_the_label_of_removed_links_is_dropped() {
    let links =
        "<p>In short:</p><ul><li><a href='/1'>A mill burns down</a></li><li><a href='/2'>A mill is built</a></li></ul>";
    let dropped = ["In short", "mill burns"];
    let inside = format!("<h3>Elsewhere</h3>{links}<h3>What comes next</h3>{}", prose("tar"));
    reads(&article(&inside), &["### What comes next", "about tar,"], &[&dropped[..], &["Elsewhere"]].concat());
    // Headings with sections below them, and of the page.
    let inside = format!("<h2>Guide</h2>{links}<h3>First steps</h3>{}", prose("tar"));
    reads(&article(&inside), &["## Guide\n\n### First steps"], &dropped);
    let body = format!(
        "<main><article><div><h1>The bridge at Low Ford</h1>{links}</div>{}{}</article></main>",
        prose("salt"),
        prose("rust")
    );
    reads(&site("Low Ford", &body), &["# The bridge at Low Ford", "about rust,"], &dropped);
}

#[test]
fn notes_below_an_article_are_dropped() {
    let author = "<div><h4>About the author</h4><p>Ann Author has written about bridges for twenty years, and about fords for ten.</p></div>";
    reads(&article(author), &KEPT, &["About the author", "Ann Author"]);
    let named =
        "<div itemprop='author'><p>Ann Author has written about bridges for twenty years, and about fords.</p></div>";
    reads(&article(named), &KEPT, &["Ann Author"]);
    let reply = "<div><h3>Leave a reply</h3><form><p>Your e-mail address will not be published, and nobody will write to you.</p><textarea></textarea></form></div>";
    reads(&article(reply), &KEPT, &["Leave a reply", "will not be published"]);
}

#[test]
fn offers_at_the_end_are_dropped() {
    for offer in [
        "<p>Subscribe to the Low Ford Gazette and get every bridge delivered to your door.</p>",
        "<p>You liked this? <a href='https://example.org/newsletter'>Our letter</a> comes every Friday.</p>",
        "<p>We are on <a href='https://www.facebook.com/f'>one</a> network and on <a href='https://x.com/f'>another</a> network.</p>",
        "<div class='news-letter-section'><p>Every Friday the bridges of the week, by post or by boat, at no cost.</p></div>",
        "<div class='print-header'>Printed from the site of the Low Ford Gazette on a Monday</div>",
        "<div class='next-prev'><div><a href='/1'>A mill burns</a><p>Nobody was hurt in the night when the mill burned down.</p></div></div>",
        "<p class='editorial-disclosure'>We earn a commission if you buy a bridge through a link on this page.</p>",
    ] {
        let words: Vec<&str> =
            offer.split(['<', '>']).filter(|part| part.contains(' ') && !part.contains('=')).collect();
        reads(&article(offer), &KEPT, &words);
    }
    // Instructions at the start are content.
    let body = format!(
        "<main><h1>Start</h1><p>Sign up for an account before you begin, because every later step needs one.</p>{}{}</main>",
        prose("salt"),
        prose("rust")
    );
    reads(&site("Start", &body), &["Sign up for an account", "about rust,"], &[]);
}

#[test]
fn buttons_dates_and_labels_are_dropped() {
    let inside = format!(
        "<span class='post-date'>4 May 1911</span><a class='btn btn-primary' href='/print'>Print this page</a><p>Advertisement</p>{}",
        prose("tar")
    );
    reads(&article(&inside), &["about tar,"], &["4 May 1911", "Print this page", "Advertisement"]);
    let container = format!("<div class='button-group'>{}</div>", prose("tar"));
    reads(&article(&container), &["about tar,"], &[]);
}

#[test]
fn text_for_wide_screens_is_kept() {
    let wide = format!("<div class='d-none d-md-block'>{}</div>", prose("tar"));
    reads(&article(&wide), &["about tar,"], &[]);
    reads(&article(&wide.replace(" d-md-block", "")), &KEPT, &["about tar,"]);
}

#[test]
fn short_lines_at_the_end_are_kept() {
    let lines = ["The bridge is gone", "The toll is paid", "The ferry sleeps", "The ford remains", "The river too"];
    let poem: String = lines.iter().map(|line| format!("<p>{line}</p>")).collect();
    reads(&article(&poem), &lines, &[]);
    reads(&article("<p>Share</p><p>Print</p>"), &KEPT, &["Share", "Print"]);
}

#[test]
fn paragraph_that_links_to_a_host_named_like_an_offer_is_kept() {
    let inside =
        "<p>The oldest map of the ford is kept by the <a href='https://www.abo.example/library'>library</a>.</p>";
    reads(&article(&format!("{inside}{}", prose("tar"))), &["The oldest map"], &[]);
}

#[test]
fn credits_and_captions_are_no_paragraphs() {
    let inside = format!(
        "<p>Photo: Ann Author/Example</p><figure><img src='/1.jpg' alt=''><img src='/2.jpg' alt=''><figcaption>Both banks in May.</figcaption></figure>\
         <div><img src='/3.jpg'><figcaption>The ferry in June.</figcaption></div>\
         <figure><div class='player'></div><figcaption>A film of the flood.</figcaption></figure>\
         <figure><table><tr><th>Year</th></tr><tr><td>1911</td></tr></table><figcaption>Years of the flood.</figcaption></figure>{}",
        prose("tar")
    );
    reads(
        &article(&inside),
        &["![Both banks in May.](https://example.org/1.jpg)", "Years of the flood.", "about tar,"],
        &["Ann Author", "The ferry in June", "A film of the flood"],
    );
}

#[test]
fn sentences_that_begin_like_a_credit_are_kept() {
    for line in [
        "Credits: 4",
        "Image: <code>ford-22.04</code>",
        "Images: none",
        "Picture: see below.",
        "Video: a short history of it.",
    ] {
        let text = line.replace("<code>", "").replace("</code>", "");
        let inside = format!("<h2>Data</h2><p>{line}</p><p>Runs on four stones.</p>{}", prose("tar"));
        let markdown = reads(&article(&inside), &["Runs on four stones.", "about tar,"], &[]);
        assert!(markdown.replace('`', "").contains(&text), "{line}\n{markdown}");
    }
    let credit = "<p>Foto: Ann Author/Example</p>";
    for image in [
        format!("<p><img src='/1.jpg' alt='A ford'></p>{credit}"),
        format!("<div><img src='/1.jpg' alt='A ford'></div><div><div>{credit}</div></div>"),
        format!("<div><div><img src='/1.jpg' alt='A ford'></div><p>The ford.</p>{credit}</div>"),
    ] {
        reads(&article(&format!("{image}{}", prose("tar"))), &["about tar,"], &["Ann Author"]);
    }
    reads(&article("<p>Bildnachweis: Ann Author/Example</p>"), &KEPT, &["Ann Author"]);
}

#[test]
fn chapters_and_steps_named_like_notes_and_offers_are_kept() {
    let step = "<h2>Next steps</h2><p>Subscribe to the WORD topic and print each message.</p>";
    for word in ["jobs", "<code>jobs</code>"] {
        reads(&article(&step.replace("WORD", word)), &["## Next steps", "Subscribe to the"], &[]);
    }
    reads(&article("<p>Subscribe to the <code>jobs</code> topic.</p>"), &["Subscribe to the `jobs` topic."], &[]);
    reads(&article("<p>Subscribe to our <a href='/n'>letter</a>.</p>"), &KEPT, &["Subscribe to our"]);
    let sentence = "<p>A comment begins with a number sign, and it goes on to the end of the line.</p>";
    for (heading, code) in [
        ("Comments", "<pre><code># a comment</code></pre>"),
        ("Newsletter", "<p>The command <code>letter</code> sends it.</p>"),
        ("Comments", "<table><tr><th>Sign</th></tr><tr><td>#</td></tr></table>"),
    ] {
        for part in
            [format!("<h2>{heading}</h2>{sentence}{code}"), format!("<div><h2>{heading}</h2>{sentence}{code}</div>")]
        {
            reads(&article(&part), &[heading, "A comment begins"], &[]);
        }
    }
    let chapters = format!(
        "<h2 id='strings'>Strings</h2>{}<h2 id='lists'>Lists</h2>{}<h2 id='comments'>Comments</h2>{sentence}",
        prose("tar"),
        prose("wax")
    );
    reads(&article(&chapters), &["## Comments", "A comment begins"], &[]);
    // Comments of visitors may hold code.
    let comment = format!("<h2>2 Comments</h2>{sentence}<p>Try <code>ford</code>.</p>");
    reads(&article(&comment), &KEPT, &["2 Comments", "A comment begins"]);
    reads(&article(&format!("<h2 id='comments'>Comments</h2>{sentence}")), &KEPT, &["## Comments", "A comment begins"]);
}

#[test]
fn title_of_a_chapter_that_begins_like_a_phrase_is_kept() {
    let list = "<ul><li><a href='/1'>The Low Ford</a>, near the old mill</li><li><a href='/2'>The High Ford</a>, near the new mill</li></ul>";
    let inside = format!("<h2>Most popular fords in the valley</h2>{list}{}{}", prose("tar"), prose("wax"));
    reads(&article(&inside), &["## Most popular fords in the valley", "near the new mill", "about wax,"], &[]);
    let inside = format!("<h2>Most popular articles</h2>{list}{}{}", prose("tar"), prose("wax"));
    reads(&article(&inside), &["about wax,"], &["Most popular", "near the new mill"]);
    let links =
        "<ul><li><a href='/1'>The ford near the new mill</a></li><li><a href='/2'>A mill burns down</a></li></ul>";
    let inside = format!("<h3>More stories from the valley this week</h3>{links}{}{}", prose("tar"), prose("wax"));
    reads(&article(&inside), &["about tar,", "about wax,"], &["More stories", "near the new mill"]);
    let at_end = format!("<h2>Most popular fords in the valley</h2>{list}");
    reads(&article(&at_end), &KEPT, &["Most popular", "near the new mill"]);
}

#[test]
fn table_of_contents_is_dropped() {
    let contents = "<p>Contents:</p><ul><li><a href='#a'>Salt and its uses</a></li><li><a href='#b'>Rust and its causes</a></li><li><a href='#c'>Paint</a></li></ul>";
    let body = format!(
        "<article><h1>Care</h1>{contents}<h2 id='a'>Salt</h2>{}<h2 id='b'>Rust</h2>{}<h2 id='c'>Paint</h2>{}</article>",
        prose("salt"),
        prose("rust"),
        prose("paint")
    );
    reads(&site("Care", &body), &["## Salt", "about paint,"], &["Contents:", "Rust and its causes"]);
}

#[test]
fn sidebar_larger_than_a_short_article_is_dropped() {
    let entries: String = (1..=12)
        .map(|n| format!("<div class='entry'><p>Entry {n} of the sidebar says at some length what happened in the valley on that day.</p></div>"))
        .collect();
    let short = "<p>The bridge is open again.</p><p>The toll is a penny, and the ferry stays at home.</p>";
    let body = format!(
        "<div id='content'><h1>Open</h1><div class='entry-content'>{short}</div></div><div id='secondary'>{entries}</div>"
    );
    reads(&site("Open", &body), &["The bridge is open again.", "The toll is a penny"], &["Entry 1 of", "Entry 12 of"]);
}

#[test]
fn forum_without_other_text_keeps_its_comments() {
    let comments: String = (1..=6)
        .map(|n| format!("<div class='comment'><p>Member {n} says that the water came up to step {n}, which is more than last year.</p></div>"))
        .collect();
    let body = format!("<main><h1>How high was the water?</h1><div id='thread'>{comments}</div></main>");
    reads(&site("Water", &body), &["Member 1 says", "Member 6 says"], &[]);
    // Below an article they are left out, however many there are.
    let body = format!(
        "<main><h1>Water</h1>{}{}<div id='thread'>{comments}{comments}</div></main>",
        prose("salt"),
        prose("rust")
    );
    reads(&site("Water", &body), &["about rust,"], &["Member 1 says"]);
}

#[test]
fn discussion_below_a_short_question_is_kept() {
    let said = |what: &str| {
        format!("<p>Somebody says {what} about the ford, and goes on for as long as it takes to be running text.</p>")
    };
    let page = |inner: &str| site("Which ford?", &format!("<main><h1>Which ford?</h1>{inner}</main>"));
    let question = [said("yes"), said("no"), said("neither")].concat();
    let comments: String =
        (1..=4).map(|n| format!("<div class='comment'>{0}{0}</div>", said(&format!("word {n}")))).collect();
    for class in ["comments", "other"] {
        let inner = format!("<div>{question}</div><section class='{class}'>{comments}</section>");
        reads(&page(&inner), &["Somebody says yes", "Somebody says word 1", "Somebody says word 4"], &[]);
    }
    for class in ["post-content", "other"] {
        let post = |what: &str, replies: &str| {
            let text = format!("<div class='{class}'>{}</div>", said(what));
            format!("<div class='post'>{text}<div class='replies'>{replies}</div></div>")
        };
        let thread = post("yes, and again yes, and yes", &post("word 1", &post("word 2", &post("word 3", ""))));
        reads(&page(&thread), &["Somebody says yes", "Somebody says word 1", "Somebody says word 3"], &[]);
    }
    // Comments below a short article: few of them, or below declared content.
    let inner = format!("{question}<div class='comment'>{}</div>", said("word 1"));
    reads(&page(&inner), &["Somebody says neither"], &["Somebody says word 1"]);
    let inner = format!("<div class='entry-content'>{question}</div><section class='comments'>{comments}</section>");
    reads(&page(&inner), &["Somebody says neither"], &["Somebody says word 1", "Somebody says word 4"]);
}

#[test]
fn code_keeps_tokens_with_names_of_boilerplate() {
    let code = "<pre><code><span class='hljs-meta'>#!/bin/sh</span>\n<span class='token comment'># counts bridges</span>\nls</code></pre>";
    reads(&article(code), &["#!/bin/sh", "# counts bridges"], &[]);
}

#[test]
fn heading_keeps_its_id() {
    let inside = format!("<h3 id='nav_of_the_river'>Navigation of the river</h3>{}", prose("tar"));
    reads(&article(&inside), &["### Navigation of the river", "about tar,"], &[]);
}

#[test]
fn class_that_tells_what_a_heading_has_is_no_mark() {
    // Documentation sites name headings after the bar that they must stay below.
    let inside = format!(
        "<h2 class='anchor anchorWithStickyNavbar_LWe7' id='usage'>Usage</h2>{}\
         <h3 class='anchor anchorWithHideOnScrollNavbar_WYt5' id='flags'>Flags</h3>{}<div class='has-left-sidebar'>{}</div>",
        prose("tar"),
        prose("wax"),
        prose("oil")
    );
    reads(&article(&inside), &["## Usage", "about tar,", "### Flags", "about wax,", "about oil,"], &[]);
    // Words before it are marks, and so are the names of parts.
    for class in ["sidebar-with-tabs", "player-with-cover__caption"] {
        let inside = format!("<div class='{class}'><p>Ten bridges that are older than they look.</p></div>");
        reads(&article(&inside), &KEPT, &["Ten bridges"]);
    }
}

#[test]
fn section_whose_id_is_the_slug_of_its_heading_is_kept() {
    for (id, heading) in [
        ("discussion", "<span class='header-section-number'>5</span> Discussion"),
        ("related-work", "4.2 Related work"),
        ("github-comments", "GitHub comments"),
        ("javascript-navigation", "JavaScript navigation"),
        ("whats-new-in-cookies", "What's new in cookies?"),
        ("whats-new-in-cookies", "What’s new in cookies?"),
        ("discussion-1", "Discussion"),
        ("cookies_2", "1. Cookies"),
    ] {
        let inside = format!("<section id='{id}'><h2>{heading}</h2>{}</section>", prose("tar"));
        reads(&article(&inside), &["about tar,"], &[]);
        reads(&article(&inside.replace("<section", "<div class='section level2'")), &["about tar,"], &[]);
    }
    // A count is no number of a section, and a word that goes on is another one.
    for (id, heading) in [("comments", "5 Comments"), ("comment", "Comments"), ("comments-4711", "Comments")] {
        let inside = format!("<section id='{id}'><h2>{heading}</h2>{0}{0}</section>", prose("tar"));
        reads(&article(&inside), &KEPT, &["about tar,"]);
    }
}

#[test]
fn one_of_equal_parts_that_is_set_off_is_kept() {
    let part =
        |class: &str, name: &str| format!("<div class='{class}'><h3>{name}</h3><p>For {name} persons.</p></div>");
    for (classes, dropped) in [
        (["plan", "plan popular", "plan"], false),
        (["plan plan--ten", "plan plan--recommended", "plan plan--many"], false),
        (["plan", "most-popular plan", "plan"], false),
        // Advertising, a byline, and parts of another kind.
        (["plan", "plan sponsored", "plan"], true),
        (["plan", "plan author", "plan"], true),
        (["plan", "popular", "plan"], true),
        (["plan", "box popular", "plan"], true),
        (["plan popular", "plan popular", "plan popular"], true),
    ] {
        let plans = [part(classes[0], "one"), part(classes[1], "ten"), part(classes[2], "many")].concat();
        let text = ["For ten persons."];
        let (kept, dropped) = if dropped { (&[][..], &text[..]) } else { (&text[..], &[][..]) };
        reads(&article(&format!("{plans}{}", prose("tar"))), &[&KEPT[..], kept].concat(), dropped);
    }
    // A box of links among boxes of text.
    let inside = format!(
        "<div class='box'>{}</div><div class='box popular'><p>See <a href='/1'>A mill burns</a>, <a href='/2'>A mill is built</a></p></div>",
        prose("tar")
    );
    reads(&article(&inside), &["about tar,"], &["A mill burns"]);
}
