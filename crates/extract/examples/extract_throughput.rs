//! Reads the web pages of a folder sequentially. Reports pages per second, median and slowest time, and peak memory.
//! With a second folder, writes the markdown of each page there for scoring.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use extract::{ExtractRequest, FileKind, extract};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(from) = arguments.next() else {
        eprintln!("usage: extract_throughput FROM [TO]");
        return Ok(());
    };
    let to = arguments.next();
    if let Some(to) = &to {
        std::fs::create_dir_all(to)?;
    }
    let mut pages: Vec<_> = std::fs::read_dir(from)?.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    let mut times = Vec::with_capacity(pages.len());
    let mut bytes_read = 0;
    for path in pages {
        bytes_read += read(&path, to.as_deref(), &mut times)?;
    }
    report(times, bytes_read);
    Ok(())
}

/// Reads one page as if from the web and returns its size in bytes.
fn read(path: &Path, to: Option<&Path>, times: &mut Vec<Duration>) -> std::io::Result<usize> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = std::fs::read(path)?;
    let base_url = Some(format!("https://pages.example/{name}"));
    let request = ExtractRequest { kind: FileKind::Html, name: name.clone(), base_url, charset: None };
    let start = Instant::now();
    let result = extract(&request, &bytes);
    times.push(start.elapsed());
    match (result, to) {
        (Ok(read), Some(to)) => std::fs::write(to.join(format!("{name}.md")), read.markdown)?,
        (Ok(_), None) => {}
        (Err(error), _) => eprintln!("{name}: {error}"),
    }
    Ok(bytes.len())
}

fn report(mut times: Vec<Duration>, bytes_read: usize) {
    times.sort();
    let seconds = times.iter().sum::<Duration>().as_secs_f64();
    let at = |share: f64| times.get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)));
    let milliseconds = |share: f64| at(share).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    eprintln!(
        "{} pages, {:.1} MB: {:.1} pages/s, p50 {:.1} ms, p99 {:.1} ms, slowest {:.1} ms, peak memory {} MB",
        times.len(),
        bytes_read as f64 / 1e6,
        times.len() as f64 / seconds,
        milliseconds(0.5),
        milliseconds(0.99),
        milliseconds(1.0),
        peak_kib().unwrap_or(0) / 1024,
    );
}

/// Returns the peak resident set size of this process (Linux: `VmHWM`).
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}
