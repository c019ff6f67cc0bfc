// All files of the organization. The whole list costs the server one request to its storage per 1,000 files, a page one per file.
import { useEffect, useRef, useState } from "../../core/html.js";
import { connection } from "../../core/connection.js";
import { useStore } from "../../core/store.js";
import { get } from "../../core/api.js";

// Files that are shown before the rest is read.
const FIRST = 50;

// Returns {files, done, started, error, reload, drop}. The list appears with its first files, then whole.
export function useListing() {
  const { epoch } = useStore(connection);
  const [round, setRound] = useState(0);
  const [state, setState] = useState({ files: [], done: false, error: null, started: false });
  const timer = useRef(0);
  // While a list is read again, the old one stays.
  const isWhole = useRef(false);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const show = (files, done) => setState({ files, done, error: null, started: true });
    read(signal, show, isWhole.current).then(
      () => { isWhole.current = true; },
      (error) => signal.aborted || setState((old) => ({ ...old, error })),
    );
    return () => controller.abort();
  }, [epoch, round]);
  // Several changes at once read the list once.
  const reload = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setRound((value) => value + 1), 150);
  };
  const drop = (name) => setState((old) => ({ ...old, files: old.files.filter((file) => file.name !== name) }));
  return { ...state, reload, drop };
}

async function read(signal, show, isAgain) {
  if (!isAgain) {
    const first = await get("files", { limit: FIRST }, { signal });
    // A page may be empty although others follow.
    if (first.files.length > 0 || !first.next_cursor) show(first.files.map(row), !first.next_cursor);
    if (!first.next_cursor) return;
  }
  const { files } = await get("files", {}, { signal });
  // In place, since there may be a million of them.
  for (let at = 0; at < files.length; at += 1) files[at] = row(files[at]);
  show(files, true);
}

// What the table shows. The rest of an entry would be half of the memory.
const row = ({ name, size, last_modified, status, reason, labels }) => ({ name, size, last_modified, status, reason, labels });
