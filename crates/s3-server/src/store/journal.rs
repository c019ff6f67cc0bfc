//! The append-only file that says which objects there are.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::record::Record;

/// The first line: names the format, so that a later one can tell.
const HEADER: &str = "objects 1\n";

pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes that hold whole records: where the next one goes.
    length: u64,
    /// Lines since the last compaction, the ones that it wrote included.
    records: usize,
}

/// What a journal held when it was opened.
pub(super) struct Replay {
    /// Lines that could not be read, a torn last one not counted.
    pub damaged: usize,
}

impl Journal {
    /// Opens the journal (a new one where there is none) and hands each record to `apply`, in order. A torn last line,
    /// which is what a crash in the middle of a write leaves, is cut off.
    ///
    /// # Errors
    /// `InvalidData` for a file with another header.
    pub fn open(path: &Path, mut apply: impl FnMut(Record)) -> io::Result<(Self, Replay)> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut journal = Self { path: path.to_owned(), file, length: 0, records: 0 };
        let mut replay = Replay { damaged: 0 };
        if HEADER.as_bytes().starts_with(&bytes) && bytes.len() < HEADER.len() {
            // New, or torn at its very first write.
            journal.file.set_len(0)?;
            journal.append(HEADER)?;
            return Ok((journal, replay));
        }
        let Some(body) = bytes.strip_prefix(HEADER.as_bytes()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "another header"));
        };
        let whole = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
        for line in body[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            journal.records += 1;
            match std::str::from_utf8(line).ok().and_then(Record::parse) {
                Some(record) => apply(record),
                None => replay.damaged += 1,
            }
        }
        journal.length = (HEADER.len() + whole) as u64;
        journal.file.set_len(journal.length)?;
        journal.file.seek(SeekFrom::Start(journal.length))?;
        Ok((journal, replay))
    }

    pub fn records(&self) -> usize {
        self.records
    }

    /// Writes the record in one call to the system, which is what makes it survive the death of this process.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let mut line = String::with_capacity(256);
        record.write(&mut line);
        self.append(&line)?;
        self.records += 1;
        Ok(())
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // A full disk may have taken half a line: the next record must not be glued to it.
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
            return Err(error);
        }
        self.length += text.len() as u64;
        Ok(())
    }

    /// A second handle to the file, to sync without holding up writers.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Replaces the file by one with just these records; the old one stays until the new one is complete on disk.
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
    fn records_come_back_in_order_and_a_torn_tail_is_cut_off() {
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
    fn a_damaged_line_in_the_middle_costs_only_itself() {
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
    fn compaction_keeps_what_it_is_given_and_goes_on() {
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
    fn a_file_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        std::fs::write(&path, "objects 2\n").unwrap();
        assert_eq!(Journal::open(&path, |_| ()).err().unwrap().kind(), io::ErrorKind::InvalidData);
    }
}
