//! Append-only journal of the objects.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::record::Record;

/// First line, which identifies the format version.
const HEADER: &str = "objects 1\n";

pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Length of all complete records, which is the position of the next one.
    length: u64,
    /// Lines since the last compaction, including those that it wrote.
    records: usize,
}

/// Result of reading a journal.
pub(super) struct Replay {
    /// Unreadable lines, not counting a torn last one.
    pub damaged: usize,
}

impl Journal {
    /// Opens or creates the journal and passes its records to `apply` in order. Truncates a torn last line, which a
    /// crash during a write leaves.
    ///
    /// # Errors
    /// `InvalidData` if the file has another header.
    pub fn open(path: &Path, mut apply: impl FnMut(Record)) -> io::Result<(Self, Replay)> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut journal = Self { path: path.to_owned(), file, length: 0, records: 0 };
        let mut replay = Replay { damaged: 0 };
        if HEADER.as_bytes().starts_with(&bytes) && bytes.len() < HEADER.len() {
            // New, or torn during its first write.
            journal.file.set_len(0)?;
            journal.append(HEADER)?;
            return Ok((journal, replay));
        }
        let Some(body) = bytes.strip_prefix(HEADER.as_bytes()) else {
            return Err(unknown_header());
        };
        let whole = whole_lines(body);
        for record in records(&body[..whole]) {
            journal.records += 1;
            match record {
                Some(record) => apply(record),
                None => replay.damaged += 1,
            }
        }
        journal.length = (HEADER.len() + whole) as u64;
        journal.file.set_len(journal.length)?;
        journal.file.seek(SeekFrom::Start(journal.length))?;
        Ok((journal, replay))
    }

    /// Passes the records of a journal, which another process may be writing, to `apply` in order. A missing file has none.
    pub fn read(path: &Path, mut apply: impl FnMut(Record)) -> io::Result<()> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some(body) = bytes.strip_prefix(HEADER.as_bytes()) else {
            let is_new = HEADER.as_bytes().starts_with(&bytes);
            return if is_new { Ok(()) } else { Err(unknown_header()) };
        };
        records(&body[..whole_lines(body)]).flatten().for_each(&mut apply);
        Ok(())
    }

    /// Creates a journal of these records.
    pub fn create(path: &Path, records: impl Iterator<Item = Record>) -> io::Result<()> {
        let mut text = HEADER.to_owned();
        records.for_each(|record| record.write(&mut text));
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
    }

    pub fn records(&self) -> usize {
        self.records
    }

    /// Writes the record with one system call, so that it survives the death of this process.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let mut line = String::with_capacity(256);
        record.write(&mut line);
        self.append(&line)?;
        self.records += 1;
        Ok(())
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // A full disk may have accepted half a line. The next record must not be appended to it.
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
            return Err(error);
        }
        self.length += text.len() as u64;
        Ok(())
    }

    /// Returns a second handle of the file, to sync without blocking writers.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Replaces the file by one with only these records. The old file remains until the new one is complete on disk.
    pub fn compact(&mut self, records: impl Iterator<Item = Record>) -> io::Result<()> {
        let new_path = self.path.with_extension("new");
        let mut text = HEADER.to_owned();
        let mut count = 0;
        for record in records {
            record.write(&mut text);
            count += 1;
        }
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&new_path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        std::fs::rename(&new_path, &self.path)?;
        *self = Self { path: std::mem::take(&mut self.path), file, length: text.len() as u64, records: count };
        Ok(())
    }
}

/// Returns the length of all complete lines.
fn whole_lines(body: &[u8]) -> usize {
    body.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1)
}

/// Parses the lines; `None` for a damaged one.
fn records(lines: &[u8]) -> impl Iterator<Item = Option<Record>> {
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| std::str::from_utf8(line).ok().and_then(Record::parse))
}

fn unknown_header() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "unknown header")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn delete(key: &str) -> Record {
        Record::Delete { key: key.to_owned() }
    }

    fn replay(path: &Path) -> (Journal, Vec<Record>, usize) {
        let mut seen = Vec::new();
        let (journal, replay) = Journal::open(path, |record| seen.push(record)).unwrap();
        (journal, seen, replay.damaged)
    }

    #[test]
    fn records_are_replayed_in_order_and_a_torn_tail_is_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut journal, seen, _) = replay(&path);
        assert_eq!(seen, []);
        journal.write(&delete("a")).unwrap();
        journal.write(&delete("b")).unwrap();
        drop(journal);

        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let (mut journal, seen, damaged) = replay(&path);
        assert_eq!((seen, damaged), (vec![delete("a")], 0));
        journal.write(&delete("c")).unwrap();
        drop(journal);
        assert_eq!(replay(&path).1, [delete("a"), delete("c")]);
    }

    #[test]
    fn a_damaged_line_affects_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut journal, ..) = replay(&path);
        for key in ["a", "b", "c"] {
            journal.write(&delete(key)).unwrap();
        }
        let mut text = std::fs::read_to_string(&path).unwrap();
        text = text.replace("delete\tb", "delete\tx");
        std::fs::write(&path, text).unwrap();
        let (_, seen, damaged) = replay(&path);
        assert_eq!((seen, damaged), (vec![delete("a"), delete("c")], 1));
    }

    #[test]
    fn compaction_keeps_the_given_records_and_accepts_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut journal, ..) = replay(&path);
        for _ in 0..100 {
            journal.write(&delete("a")).unwrap();
        }
        journal.compact([delete("kept")].into_iter()).unwrap();
        assert_eq!(journal.records(), 1);
        journal.write(&delete("later")).unwrap();
        assert_eq!(replay(&path).1, [delete("kept"), delete("later")]);
    }

    #[test]
    fn an_unknown_header_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        std::fs::write(&path, "objects 2\n").unwrap();
        assert_eq!(Journal::open(&path, |_| ()).err().unwrap().kind(), io::ErrorKind::InvalidData);
    }
}
