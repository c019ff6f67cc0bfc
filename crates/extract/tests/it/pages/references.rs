//! Reference pages.

use super::{prose, reads, site};

#[test]
fn documentation_keeps_code_and_language() {
    let blocks = [
        ("<pre><code class='language-rust'>fn a() {}\n</code></pre>", "```rust\nfn a() {}\n```"),
        ("<pre><code class='lang-py'>def b(): pass</code></pre>", "```py\ndef b(): pass\n```"),
        ("<div class='highlight highlight-source-shell'><pre>ls -la</pre></div>", "```shell\nls -la\n```"),
        ("<pre><code class='hljs javascript'>let c = 1;</code></pre>", "```javascript\nlet c = 1;\n```"),
        ("<pre><code class='hljs language-css'>d { color: red }</code></pre>", "```css\nd { color: red }\n```"),
        ("<pre class='brush: java; gutter: false'>int e;</pre>", "```java\nint e;\n```"),
        ("<div data-lang='go'><pre><code>var f int</code></pre></div>", "```go\nvar f int\n```"),
        (
            "<div class='highlight-python3 notranslate'><div class='highlight'><pre><span></span><span class='k'>import</span> g\n</pre></div></div>",
            "```python3\nimport g\n```",
        ),
        ("<pre class='prettyprint lang-sql'>select h</pre>", "```sql\nselect h\n```"),
        ("<pre class='src src-emacs-lisp'>(i)</pre>", "```emacs-lisp\n(i)\n```"),
        (
            "<div class='code-toolbar'><pre class='language-toml'><code class='language-toml'>j = 1</code></pre><div class='toolbar'><button>Copy</button></div></div>",
            "```toml\nj = 1\n```",
        ),
        ("<pre>plain words\n  kept as they are</pre>", "```\nplain words\n  kept as they are\n```"),
        (
            "<table class='highlighttable'><tr><td class='linenos'><pre>1\n2</pre></td><td class='code'><pre><code class='language-c'>int k;\nint l;</code></pre></td></tr></table>",
            "```c\nint k;\nint l;\n```",
        ),
        (
            "<pre><code class='language-ts'><span class='line'>let m;</span>\n<span class='line'>let n;</span></code></pre>",
            "```ts\nlet m;\nlet n;\n```",
        ),
    ];
    let code: String = blocks.iter().map(|(html, _)| format!("{}{html}", prose("the next block"))).collect();
    let body = format!(
        "<div class='sidebar'><ul><li><a href='a'>Install</a></li><li><a href='b'>Configure</a></li></ul></div><main><h1>Guide<a class='headerlink' href='#guide' title='Link to this heading'>¶</a></h1>{code}<p>The end of the guide is here, and the rest is in the reference.</p></main>"
    );
    let expected: Vec<&str> = blocks.iter().map(|(_, markdown)| *markdown).collect();
    let markdown = reads(&site("Guide", &body), &expected, &["Install", "¶", "Copy", "```\n1\n2\n```"]);
    assert!(markdown.starts_with("# Guide\n"), "{markdown}");
}

#[test]
fn code_that_begins_an_item_is_unchanged() {
    let code = "<ol><li><pre>a\n\n\n  |> f()</pre></li></ol><pre>c\n\n\n  |> d</pre>";
    let body = format!("<main><h1>Guide</h1>{}{code}{}</main>", prose("the next block"), prose("the end"));
    let item = "1. ```\n   a\n\n\n     |> f()\n   ```\n\n```\nc\n\n\n  |> d\n```\n\nFor many years";
    reads(&site("Guide", &body), &[item], &[]);
}

#[test]
fn api_reference_keeps_signatures_and_members() {
    let member = |name: &str| {
        format!(
            "<section id='method.{name}'><h4><code>pub fn <a href='#method.{name}'>{name}</a>(&amp;self) -&gt; <a href='https://doc.example/usize.html'>usize</a></code></h4><div class='docblock'><p>Returns the {name} of the pump in litres a minute, rounded down.</p></div></section>"
        )
    };
    let body = format!(
        "<main><h1>Struct <span>Pump</span> <button>Copy item path</button></h1><pre class='rust item-decl'><code>pub struct Pump {{ /* private fields */ }}</code></pre><div class='docblock'><p>A pump.</p></div><h2 id='implementations'>Implementations<a href='#implementations' class='anchor'>§</a></h2>{}{}{}</main>",
        member("flow"),
        member("head"),
        member("power")
    );
    reads(
        &site("Pump", &body),
        &[
            "pub struct Pump { /* private fields */ }",
            "A pump.",
            "## Implementations\n",
            "pub fn flow(&self) -> usize",
            "the head of the pump",
            "the power of the pump",
        ],
        &["Copy item path", "§"],
    );
}

#[test]
fn definition_lists_and_details_are_read() {
    let body = format!(
        "<main><h1>Terms</h1>{}<dl><dt>Ford</dt><dd>A shallow place in a river where it may be crossed.</dd><dt>Toll</dt><dt>Fee</dt><dd>What is paid for crossing.</dd><dd>Also the ringing of a bell.</dd></dl>\
         <details><summary>Why is it called low?</summary><p>Because the high one is further up the river.</p></details>\
         <details open><summary>Is it open?</summary>Yes, all year round.</details></main>",
        prose("the terms")
    );
    reads(
        &site("Terms", &body),
        &[
            "**Ford**",
            "A shallow place in a river",
            "**Fee**",
            "Also the ringing",
            "Why is it called low?",
            "the high one is further up",
            "Is it open?",
            "Yes, all year round.",
        ],
        &[],
    );
}

#[test]
fn lists_keep_their_order_and_depth() {
    let body = format!(
        "<main><h1>Lists</h1>{}<ol start='5'><li>five</li><li value='9'>nine<ol type='a'><li>first<ul><li>deep</li></ul></li></ol></li><li>ten</li></ol></main>",
        prose("lists")
    );
    reads(&site("Lists", &body), &["5. five\n9. nine\n   1. first\n      - deep\n10. ten"], &[]);
}

#[test]
fn formulas_become_tex() {
    let body = format!(
        "<main><h1>Mass</h1>{}<p>So <math alttext='E=mc^2'><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math> holds.</p>\
         <p>And <span class='katex'><span class='katex-mathml'><math><semantics><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><annotation encoding='application/x-tex'>a+b</annotation></semantics></math></span><span class='katex-html' aria-hidden='true'><span class='base'>a+b drawn</span></span></span> too.</p>\
         <p>Also <span class='mwe-math-element'><span style='display: none;'><math alttext='{{\\displaystyle x}}'><mi>x</mi></math></span><img src='x.svg' class='mwe-math-fallback-image-inline' alt='{{\\displaystyle x}}'></span> here.</p>\
         <p>Bare <math><mi>y</mi><mo>=</mo><mn>1</mn></math> last.</p></main>",
        prose("mass")
    );
    let page = site("Mass", &body);
    reads(
        &page,
        &["So $E=mc^2$ holds.", "And $a+b$ too.", "Also ${\\displaystyle x}$ here.", "Bare y=1 last."],
        &["drawn"],
    );
    assert!(super::web(&page).labels.is_empty());
}
