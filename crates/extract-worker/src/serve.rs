//! The worker's side: reads one document after another from standard input.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use extract::{ExtractError, Extracted, extract};

use crate::jail;
use crate::limits::{self, Limits};
use crate::protocol::{self, Reply, Task};
use crate::sandbox::{REPORT_VARIABLE, REQUIRED_VARIABLE};

/// Runs the worker: drops every right that it does not need, then reads documents from standard input until that ends.
///
/// Call it before anything else runs in the process. Nothing else may write to standard output. It exits with status 2 if
/// the pool's limits are missing in the environment, and with status 3 if the pool requires a confinement that the system
/// cannot enforce.
pub fn run() -> ExitCode {
    let Some(limits) = std::env::var(limits::VARIABLE).ok().as_deref().and_then(Limits::decode) else {
        let _ = writeln!(io::stderr(), "missing `{}`: an extraction worker is started by its pool", limits::VARIABLE);
        return ExitCode::from(2);
    };
    let (asked, required) = (is_set(REPORT_VARIABLE), is_set(REQUIRED_VARIABLE));
    let report = jail::enter(&limits);
    if asked {
        let written = serde_json::to_writer(io::stdout(), &report);
        return if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if required && !report.is_confined() {
        let _ = writeln!(io::stderr(), "worker refuses to run without a sandbox: {report}");
        return ExitCode::from(3);
    }
    let _ = writeln!(io::stderr(), "worker ready: {}", report.held.join(", "));
    match serve(&limits, &mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "worker ends: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

fn serve(limits: &Limits, input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    while let Some(task) = next_task(input)? {
        jail::renew_cpu(limits);
        let reply = match read_document(input, task.bytes)? {
            Ok(bytes) => extract(&task.request, &bytes),
            Err(error) => {
                answer(output, limits, Err(error))?;
                // The document is still in the pipe, and there is no memory to read it.
                return Ok(());
            }
        };
        answer(output, limits, reply)?;
    }
    Ok(())
}

/// Reads the next task; `None` at the end of the input.
fn next_task(input: &mut impl Read) -> io::Result<Option<Task>> {
    let mut length = [0; 4];
    let first = input.read(&mut length[..1])?;
    if first == 0 {
        return Ok(None);
    }
    input.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > protocol::MAX_HEADER_BYTES {
        return Err(io::Error::other(format!("a header of {length} bytes")));
    }
    let mut header = vec![0; length];
    input.read_exact(&mut header)?;
    serde_json::from_slice(&header).map(Some).map_err(io::Error::other)
}

fn read_document(input: &mut impl Read, bytes: u64) -> io::Result<Result<Vec<u8>, ExtractError>> {
    let mut document = Vec::new();
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| document.try_reserve_exact(bytes).is_ok());
    if !reserved {
        return Ok(Err(ExtractError::too_large(format!("no memory for {bytes} bytes of input"))));
    }
    let read = input.take(bytes).read_to_end(&mut document)?;
    if read as u64 != bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the document ends early"));
    }
    Ok(Ok(document))
}

fn answer(output: &mut impl Write, limits: &Limits, reply: Result<Extracted, ExtractError>) -> io::Result<()> {
    let reply = reply.and_then(|extracted| {
        let bytes = extracted.markdown.len();
        if bytes > limits.max_output_bytes {
            return Err(ExtractError::too_large(format!("{bytes} bytes of text")));
        }
        Ok(extracted)
    });
    let (reply, markdown) = match reply {
        Ok(mut extracted) => {
            let markdown = std::mem::take(&mut extracted.markdown);
            protocol::trim(&mut extracted);
            (Reply::Read { extracted, bytes: markdown.len() as u64 }, markdown)
        }
        Err(error) => (Reply::Failed(error), String::new()),
    };
    output.write_all(&protocol::head(&reply).map_err(io::Error::other)?)?;
    output.write_all(markdown.as_bytes())?;
    output.flush()
}
