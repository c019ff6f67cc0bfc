//! `bench crawl`: pages per second over ten hosts, and memory with a million URLs in the frontier.

use super::installation::Installation;
use super::read_job::{ALLOW_LOOPBACK, generated_pages};
use super::report::Report;
use super::{Options, check_interrupt, process, spinner};
use anyhow::{Context, bail};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PAGES: usize = 20_000;
const HOSTS: usize = 10;
/// Different texts; each page adds a sentence of its own.
const TEXTS: usize = 200;
/// URLs of a sitemap, the most that the protocol permits.
const URLS_A_SITEMAP: usize = 50_000;
const FRONTIER: usize = 1_000_000;
/// Time for a million URLs to reach the frontier.
const FRONTIER_TIMEOUT: Duration = Duration::from_secs(1_800);
const QUEUE: &str = "retrieval_crawl_queue ";

pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let pages = options.documents.unwrap_or(PAGES).max(HOSTS);
    crawl(options.seed, pages, program, report)?;
    frontier(if pages < PAGES { FRONTIER / 20 } else { FRONTIER }, program, report)
}

/// Crawls all hosts and reads them again.
fn crawl(seed: u64, pages: usize, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let texts = Arc::new(generated_pages(seed, TEXTS));
    let on_each = pages / HOSTS;
    let mut seeds = Vec::new();
    for host in 0..HOSTS {
        let texts = Arc::clone(&texts);
        seeds.push(start(&format!("127.0.0.{}", host + 2), move |path| tree(path, host, on_each, &texts))? + "/page/0");
    }
    let installation = Installation::new(program)?;
    let mut arguments = vec!["web", "crawl", "--name", "bench", "--wait"];
    arguments.extend(seeds.iter().map(String::as_str));
    let section = report.section(format!("crawl of {HOSTS} hosts on loopback"));
    for (round, speed, memory) in [
        (false, "pages/s, until searchable", "peak resident MB, without workers"),
        (true, "pages/s of the second round, unchanged", "peak resident MB of the second round, without workers"),
    ] {
        let waiting = spinner(if round { "crawling again" } else { "crawling" });
        let done = installation.run_measured(&arguments, &ALLOW_LOOPBACK)?;
        waiting.finish_and_clear();
        let listed = done.line["pages"].as_u64().with_context(|| format!("no `pages` in {}", done.line))?;
        if listed != (on_each * HOSTS) as u64 {
            bail!("listed {listed} of {} pages: {}", on_each * HOSTS, done.line);
        }
        if !round {
            section.count("pages", on_each * HOSTS);
        }
        section.per_second(speed, listed as f64, done.took).target_at_least(50.0);
        section.megabytes(memory, done.peak);
    }
    Ok(())
}

/// Fills the frontier from sitemaps of one host with URLs of another, which asks for a minute between two requests.
fn frontier(urls: usize, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let slow = start("127.0.0.99", |path| match path {
        "/robots.txt" => Some(("text/plain", b"User-agent: *\nCrawl-delay: 60\n".to_vec())),
        _ => Some(("text/html", b"<p>a page</p>".to_vec())),
    })?;
    let sitemaps = urls.div_ceil(URLS_A_SITEMAP);
    let target = slow.clone();
    let lists = start("127.0.0.98", move |path| sitemap(path, sitemaps, &target))?;
    let installation = Installation::new(program)?;
    let server = installation.serve_with(&ALLOW_LOOPBACK)?;
    let before = process::resident(server.pid())?;
    let index = format!("{lists}/index.xml");
    installation.run_measured(&["web", "crawl", "--name", "frontier", &index, &slow], &ALLOW_LOOPBACK)?;
    let section = report.section("frontier");
    let begun = Instant::now();
    let waiting = spinner("filling the frontier");
    let operations = installation.operations();
    loop {
        check_interrupt()?;
        let text = String::from_utf8_lossy(&operations.get("/metrics")?).into_owned();
        let queued: f64 =
            text.lines().find_map(|line| line.strip_prefix(QUEUE)).and_then(|value| value.parse().ok()).unwrap_or(0.0);
        if queued >= (sitemaps * URLS_A_SITEMAP) as f64 * 0.99 {
            break;
        }
        if begun.elapsed() > FRONTIER_TIMEOUT {
            bail!("only {queued} URLs reached the frontier");
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    waiting.finish_and_clear();
    section.count("URLs in the frontier", sitemaps * URLS_A_SITEMAP);
    section.per_second("URLs/s from sitemaps", (sitemaps * URLS_A_SITEMAP) as f64, begun.elapsed());
    section.megabytes("resident MB before, with workers", before);
    section.megabytes("resident MB with the frontier, with workers", process::resident(server.pid())?);
    section.megabytes("peak resident MB of the server alone", process::peak(server.pid())?);
    Ok(())
}

type Answer = Option<(&'static str, Vec<u8>)>;

/// Returns a page with links to two others.
fn tree(path: &str, host: usize, pages: usize, texts: &[Vec<u8>]) -> Answer {
    let number: usize = path.strip_prefix("/page/")?.parse().ok().filter(|number| *number < pages)?;
    let text = &texts[(number * HOSTS + host) % texts.len()];
    let mut page = String::from_utf8_lossy(text).into_owned();
    // The links of the texts lead nowhere.
    page = page.replace("href=\"/", "href=\"#/");
    let mut own = format!("<p>Report number{number} of host{host}, with words of its own.</p>");
    for next in [2 * number + 1, 2 * number + 2].iter().filter(|next| **next < pages) {
        let _ = write!(own, "<a href=\"/page/{next}\">next</a>");
    }
    Some(("text/html", page.replace("</article>", &format!("{own}</article>")).into_bytes()))
}

fn sitemap(path: &str, sitemaps: usize, target: &str) -> Answer {
    let mut text = String::new();
    if path == "/index.xml" {
        text.push_str("<sitemapindex>");
        for number in 0..sitemaps {
            let _ = write!(text, "<sitemap><loc>/list/{number}.xml</loc></sitemap>");
        }
        text.push_str("</sitemapindex>");
    } else {
        let number: usize = path.strip_prefix("/list/")?.strip_suffix(".xml")?.parse().ok()?;
        text.push_str("<urlset>");
        for url in 0..URLS_A_SITEMAP {
            let _ = write!(text, "<url><loc>{target}/section-{number}/page-{url}</loc></url>");
        }
        text.push_str("</urlset>");
    }
    Some(("application/xml", text.into_bytes()))
}

/// Starts a site with kept-alive connections and returns its base URL. Every page has an `ETag`.
fn start(address: &str, answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> anyhow::Result<String> {
    let listener = TcpListener::bind((address, 0))?;
    let base = format!("http://{}", listener.local_addr()?);
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || while serve(&stream, answer.as_ref()).is_some() {});
        }
    });
    Ok(base)
}

/// Answers one request. Returns `None` when the client disconnects.
fn serve(mut stream: &TcpStream, answer: &(impl Fn(&str) -> Answer + ?Sized)) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let mut is_conditional = false;
    for line in lines.take_while(|line| !line.is_empty()) {
        is_conditional |= line.to_ascii_lowercase().starts_with("if-none-match:");
    }
    let (status, content_type, body) = match answer(&path) {
        Some((content_type, _)) if is_conditional => ("304 Not Modified", content_type, Vec::new()),
        Some((content_type, body)) => ("200 OK", content_type, body),
        None => ("404 Not Found", "text/plain", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nETag: \"1\"\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.set_nodelay(true).ok()?;
    stream.write_all(&[head.as_bytes(), &body].concat()).ok()
}
