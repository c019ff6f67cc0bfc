//! Reads every file of a folder and writes `<name>.md` or `<name>.error` to another folder. With a URL as third
//! argument, HTML files are read as web pages below that URL.

use std::path::PathBuf;
use std::time::Instant;

use extract::{ExtractRequest, FileKind, extract};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: read_folder FROM TO [URL]");
        return Ok(());
    };
    let url = arguments.next().map(|url| url.to_string_lossy().into_owned());
    std::fs::create_dir_all(&to)?;
    let mut files: Vec<_> = std::fs::read_dir(from)?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(kind) = FileKind::from_name(&name) else { continue };
        let bytes = std::fs::read(&path)?;
        let start = Instant::now();
        let base_url = url.as_ref().map(|url| format!("{url}/{name}"));
        let result = extract(&ExtractRequest { base_url, ..ExtractRequest::new(kind, name.clone()) }, &bytes);
        let spent = start.elapsed().as_millis();
        match result {
            Ok(read) => {
                eprintln!(
                    "{spent:>6} ms  {name}: {:?} {:?} {:?} {:?}",
                    read.title, read.author, read.language, read.published_at
                );
                std::fs::write(to.join(format!("{name}.md")), read.markdown)?;
            }
            Err(error) => {
                eprintln!("{spent:>6} ms  {name}: {error}");
                std::fs::write(to.join(format!("{name}.error")), error.to_string())?;
            }
        }
    }
    Ok(())
}
