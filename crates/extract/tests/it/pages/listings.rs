//! Pages without one article: products, forums, lists, tables.

use super::{prose, reads, site};

#[test]
fn product_page_keeps_price_and_specification() {
    let body = "<main class='product'><div class='breadcrumbs'><a href='/'>Home</a> / <a href='/pumps'>Pumps</a></div><div class='gallery'><img src='/p.jpg' alt='Pump 300 from the side'></div>\
        <h1>Pump 300</h1><div class='price-box'><span class='price'>299.00 EUR</span> <span class='tax'>incl. VAT</span></div><p class='stock'>In stock, delivery in 2 days</p><button>Add to cart</button>\
        <div class='product-description'><p>A quiet pump for wells of up to twelve metres that starts by itself when a tap is opened, and stops when it runs dry.</p></div>\
        <h2>Specification</h2><table class='specs'><tr><th>Power</th><td>800 W</td></tr><tr><th>Weight</th><td>11.5 kg</td></tr></table>\
        <div class='related-products'><h2>You may also like</h2><ul><li><a href='/400'>Pump 400</a></li><li><a href='/500'>Pump 500</a></li></ul></div></main>";
    reads(
        &site("Pump 300", body),
        &[
            "# Pump 300",
            "299.00 EUR",
            "In stock",
            "A quiet pump for wells",
            "## Specification",
            "| Power | 800 W |",
            "| Weight | 11.5 kg |",
        ],
        &["Add to cart", "Pump 500"],
    );
}

#[test]
fn forum_thread_keeps_question_and_answers() {
    let answer = |name: &str, text: &str| {
        format!(
            "<div class='answer post'><div class='vote-count'>7</div><div class='post-text'><p>{text}</p></div><div class='user-info'><a href='/u/{name}'>{name}</a></div></div>"
        )
    };
    let body = format!(
        "<div id='mainbar'><h1>Pump does not start after winter</h1><div class='question'><div class='post-text'><p>My pump stood in the cellar all winter. Now it hums, but does not turn. What can I do before I buy a new one?</p><pre><code>status: hum\nerror: none</code></pre></div></div>\
         <h2>3 Answers</h2>{}{}{}</div><div id='sidebar'><h4>Related questions</h4><ul><li><a href='/q/1'>Pump too loud</a></li><li><a href='/q/2'>Pump too quiet</a></li></ul></div>",
        answer(
            "ann",
            "The bearing sticks. Take off the cover, and turn the shaft by hand with a screwdriver until it moves freely."
        ),
        answer("bob", "Check the capacitor, too: when it is old, the motor hums and has no power to start."),
        answer("cem", "Both answers are right. In my case a dead mouse was in the way."),
    );
    reads(
        &site("Pump does not start", &body),
        &[
            "Now it hums, but does not turn",
            "status: hum\nerror: none",
            "The bearing sticks",
            "Check the capacitor",
            "a dead mouse",
        ],
        &["Pump too loud", "Pump too quiet"],
    );
}

#[test]
fn discussion_board_keeps_every_post() {
    let posts: String = (1..=8)
        .map(|n| format!("<table class='post'><tr><td class='author'>member{n}</td><td class='message'>Post number {n}: on my side of the river the water came up to the third step this year, which is one more than last year.</td></tr></table>"))
        .collect();
    reads(
        &site("Water level", &format!("<div id='posts'><h1>Water level</h1>{posts}</div>")),
        &["Post number 1:", "Post number 5:", "Post number 8:"],
        &[],
    );
}

#[test]
fn listings_and_search_results_keep_their_entries() {
    let cards: String = (1..=10)
        .map(|n| format!("<div class='card'><h3><a href='/p/{n}'>Pump model {n}</a></h3><p>Lifts {n}0 litres a minute.</p><span class='price'>{n}99 EUR</span></div>"))
        .collect();
    reads(
        &site(
            "Pumps",
            &format!(
                "<main><h1>Pumps</h1><div class='grid'>{cards}</div><div class='pagination'><a href='?p=2'>Next page</a></div></main>"
            ),
        ),
        &["# Pumps", "[Pump model 1](https://example.org/p/1)", "Lifts 70 litres", "999 EUR"],
        &["Next page"],
    );
    let results: String = (1..=10)
        .map(|n| format!("<li class='result'><a href='/doc/{n}'>Result number {n} for ford</a><div class='snippet'>… the <b>ford</b> was closed for the {n}th time, and the traffic went over the hill …</div><cite>example.org/doc/{n}</cite></li>"))
        .collect();
    reads(
        &site("Search: ford", &format!("<main><h1>Results for ford</h1><ol class='results'>{results}</ol></main>")),
        &["[Result number 1 for ford](https://example.org/doc/1)", "closed for the 6th time", "Result number 10"],
        &[],
    );
    let links: String =
        (1..=20).map(|n| format!("<li><a href='/report/{n}.html'>Report {n} of the council</a></li>")).collect();
    reads(
        &site("Reports", &format!("<main><h1>All reports</h1><ul>{links}</ul></main>")),
        &[
            "# All reports",
            "- [Report 1 of the council](https://example.org/report/1.html)",
            "Report 20 of the council",
        ],
        &[],
    );
}

#[test]
fn front_page_keeps_headlines_and_teasers() {
    let teasers: String = (1..=9)
        .map(|n| format!("<article class='teaser'><h2><a href='/n/{n}'>Headline {n} of the day</a></h2><p>The council of Low Ford has decided for the {n}th time on what is to become of the bridge.</p></article>"))
        .collect();
    reads(
        &site("News", &format!("<main><div class='teasers'>{teasers}</div></main>")),
        &["Headline 1 of the day", "for the 5th time", "Headline 9 of the day"],
        &[],
    );
}

#[test]
fn tables_keep_cells_in_their_columns() {
    let rows: String = (1..=30)
        .map(|n| format!("<tr><th scope='row'>{}</th><td>{n}.5</td><td>{}</td></tr>", 1990 + n, n * 3))
        .collect();
    let body = format!(
        "<main><h1>Levels</h1><table><caption>Levels of the river</caption><thead><tr><th rowspan='2'>Year</th><th colspan='2'>Level</th></tr><tr><th>metres</th><th>days</th></tr></thead><tbody>{rows}</tbody></table></main>"
    );
    let markdown = reads(
        &site("Levels", &body),
        &[
            "Levels of the river",
            "| Year | Level |",
            "| Year | metres | days |",
            "| 1991 | 1.5 | 3 |",
            "| 2020 | 30.5 | 90 |",
        ],
        &[],
    );
    assert_eq!(markdown.lines().filter(|line| line.starts_with("| ---")).count(), 1, "{markdown}");
}

#[test]
fn layout_tables_become_text() {
    let body = format!(
        "<table width='100%'><tr><td width='150'><a href='/1'>One</a><br><a href='/2'>Two</a><br><a href='/3'>Three</a></td><td><h1>An old page</h1>{}<table border='1'><tr><td>Ford</td><td>1911</td></tr><tr><td>Toll</td><td>a penny</td></tr></table>{}</td></tr></table>",
        prose("tables"),
        prose("frames")
    );
    reads(
        &site("An old page", &body),
        &["# An old page", "about tables", "about frames", "| Ford | 1911 |", "| Toll | a penny |"],
        &["[Two]"],
    );
}

#[test]
fn pages_made_of_marked_parts_keep_them() {
    let dish = |name: &str, price: &str| {
        format!(
            "<div class='menu-item'><h3>{name}</h3><p>Tomatoes, cheese, olives, herbs of the valley</p><span class='price'>{price}</span></div>"
        )
    };
    let menu: String = [["Margherita", "Funghi", "Diavola", "Calzone"], ["Carbonara", "Vongole", "Pesto", "Norma"]]
        .map(|names| {
            let dishes = names.map(|name| dish(name, "8.50")).concat();
            format!("<div class='menu-section'><h2>With {}</h2>{dishes}</div>", names[0])
        })
        .concat();
    let team: String = ["Ann", "Bea", "Cid", "Dan", "Eve", "Fay"]
        .map(|name| format!("<div class='member'><h3>{name}</h3><div class='bio'><p>{name} studied medicine in Leeds and has worked at the clinic since 2009, with a focus on the hand.</p></div></div>"))
        .concat();
    let cards: String = ["Gold Card", "Blue Card", "Black Card"]
        .map(|name| format!("<div class='credit-card-box'><h2>{name}</h2><p>Two points for each pound that you spend in shops, hotels and restaurants, and lounges in six hundred airports of the world.</p></div>"))
        .concat();
    let short = "<p>All that is here is made by hand, and comes from the valley.</p>";
    let long = "<p>All that is here is made by hand, and comes from the valley. Who does not find it here will not find it elsewhere, unless the river is low enough to cross, which it seldom is, and only in late summer.</p>";
    for intro in [short, long] {
        for (parts, kept) in [
            (&menu, ["Margherita", "8.50", "Carbonara"]),
            (&team, ["Ann studied medicine", "Cid studied", "Fay studied"]),
            (&cards, ["Gold Card", "Blue Card", "Two points"]),
        ] {
            reads(&site("Low Ford", &format!("<div class='wrap'><h1>Low Ford</h1>{intro}{parts}</div>")), &kept, &[]);
        }
    }
    // One of them, one that repeats its kind inside, and parts of links.
    let author =
        "<div class='bio'><h3>Ann</h3><div class='bio'><p>Ann has written about fords for ten years.</p></div></div>";
    let links =
        "<div class='related-box'><h3><a href='/1'>A mill burns down in the night of Sunday</a></h3></div>".repeat(6);
    let body = format!("<div class='wrap'><h1>Low Ford</h1>{long}{author}{links}</div>");
    reads(&site("Low Ford", &body), &["made by hand"], &["Ann has written", "A mill burns"]);
}

#[test]
fn short_parts_beside_a_long_one_are_kept() {
    let long = [prose("salt"), prose("rust"), prose("paint")].concat();
    // Sections of documentation.
    let sections = format!(
        "<section id='usage'><h2>Usage</h2>{long}</section><section id='needs'><h2>Requirements</h2><p>A compiler for C.</p></section>\
         <section id='options'><h2>Options</h2><table><tr><th>Option</th><td>timeout</td></tr></table></section>\
         <section><h2>You may also like</h2><p>A mill burns down.</p></section>"
    );
    let kept = ["## Usage", "about paint,", "## Requirements\n\nA compiler for C.", "## Options", "timeout"];
    reads(&site("Low Ford", &format!("<main><h1>Low Ford</h1>{sections}</main>")), &kept, &["A mill burns"]);
    reads(&site("Low Ford", &format!("<div class='body'><h1>Low Ford</h1>{sections}</div>")), &kept, &["A mill burns"]);
    // Posts of a thread.
    let post = |text: &str| format!("<div class='post'><div class='who'>Ann</div><div>{text}</div></div>");
    let thread = [post("<p>How deep is it?</p>"), post("<p>Deep.</p>"), post(&long), post("<p>Take the bridge.</p>")];
    let body = format!("<main><h1>Depth</h1>{}</main>", thread.concat());
    reads(&site("Depth", &body), &["How deep is it?", "Deep.", "about paint,", "Take the bridge."], &[]);
    // The headline, rows of a layout, and links.
    let row = |text: &str| format!("<div class='row'>{text}</div>");
    let rows = [row("<h1>Low Ford in May</h1>"), row(&long)].concat();
    reads(&site("Low Ford", &format!("<main>{rows}</main>")), &["about paint,"], &["Low Ford in May"]);
    let rows = [row("<p>Call us on Mondays</p>"), row(&format!("<h1>Low Ford</h1>{long}")), row("<p>Made by Ann</p>")];
    reads(&site("Low Ford", &rows.concat()), &["about paint,"], &["Call us", "Made by Ann"]);
    let links = "<section><h2>Elsewhere</h2><p>See <a href='/1'>A mill burns down in the night</a>.</p></section>";
    let body = format!("<main><h1>Low Ford</h1><section><h2>Usage</h2>{long}</section>{links}</main>");
    reads(&site("Low Ford", &body), &["about paint,"], &["A mill burns"]);
}

#[test]
fn facts_beside_a_description_are_kept() {
    let description = format!("<div class='description'>{}{}</div>", prose("salt"), prose("rust"));
    let specification = "<table><tr><th>Weight</th><td>280 grams without laces</td></tr></table>";
    let benefits = "<ul><li>Thirty days of holiday</li><li>Bicycle leasing</li></ul>";
    let places = "<dl><dt>Where</dt><dd>Town Hall, Main Street 5</dd></dl>";
    for (facts, kept) in [(specification, "280 grams"), (benefits, "Thirty days"), (places, "Town Hall")] {
        let page = |body: String| site("Low Ford", &body);
        let facts = |heading: &str| format!("<div class='facts'>{heading}{facts}</div>");
        for heading in ["<h2>Details</h2>", "<div><h3>Details</h3></div>"] {
            let body = format!("<main><div><h1>Low Ford</h1>{description}{}</div></main>", facts(heading));
            reads(&page(body), &["about rust,", "Details", kept], &[]);
        }
        // Without a heading, below one that leads away, or outside the content.
        for heading in ["", "<h2>You may also like</h2>"] {
            let body = format!("<main><h1>Low Ford</h1>{description}{}</main>", facts(heading));
            reads(&page(body), &["about rust,"], &[kept]);
        }
        let body = format!("<div><h1>Low Ford</h1>{description}{}</div>", facts("<h2>Details</h2>"));
        reads(&page(body), &["about rust,"], &[kept]);
    }
}

#[test]
fn widgets_beside_a_text_in_equal_columns_are_dropped() {
    let text = format!("<h1>Low Ford</h1>{}{}{}", prose("salt"), prose("rust"), prose("paint"));
    let widgets = ["<h3>Weather</h3><p>Sunny, 23 degrees</p>", "<h3>Lottery</h3><p>4 8 15 16 23 42</p>"];
    let column = |start: &str, end: &str| {
        let parts = [text.as_str(), widgets[0], widgets[1]];
        parts.map(|part| format!("{start}{part}{end}")).concat()
    };
    for body in [
        format!("<table><tr><td>{text}</td><td>{}</td></tr></table>", widgets.concat()),
        format!("<main><table><tr><td>{text}</td><td>{}</td></tr></table></main>", widgets.concat()),
        format!("<div>{}</div>", column("<div>", "</div>")),
        format!("<div class='row'>{}</div>", column("<div class='col'>", "</div>")),
    ] {
        reads(&site("Low Ford", &body), &["about paint,"], &["Weather", "Lottery"]);
    }
    // Parts of a page like that of its text, and lists below other headings than its own.
    let block = |text: &str| format!("<section class='block'>{text}</section>");
    let blocks = [block(&text), block("<p>Ann writes on rivers.</p>"), block("<p>Ready to start?</p>")].concat();
    reads(&site("Low Ford", &format!("<main>{blocks}</main>")), &["about paint,"], &["Ann writes", "Ready to"]);
    let searched = "<div class='b'><h3>Most searched</h3><ul><li>fords</li><li>bridges</li></ul></div>";
    let body = format!("<main><div><div class='a'>{text}</div>{searched}</div></main>");
    reads(&site("Low Ford", &body), &["about paint,"], &["Most searched", "bridges"]);
}
