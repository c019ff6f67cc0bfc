// All files of the organization, read page by page.
import { useEffect, useRef, useState } from "../../core/html.js";
import { connection } from "../../core/connection.js";
import { useStore } from "../../core/store.js";
import { get } from "../../core/api.js";

const PAGE = 1000;

// Returns {files, done, error, reload}. The list appears with the first page and grows.
export function useListing() {
  const { epoch } = useStore(connection);
  const [round, setRound] = useState(0);
  const [state, setState] = useState({ files: [], done: false, error: null, started: false });
  const timer = useRef(0);
  useEffect(() => {
    const controller = new AbortController();
    readAll(controller.signal, setState).catch((error) => {
      if (!controller.signal.aborted) setState((old) => ({ ...old, error, done: true }));
    });
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

async function readAll(signal, setState) {
  let files = [];
  let cursor;
  do {
    const page = await get("files", { limit: PAGE, cursor }, { signal });
    files = files.concat(page.files);
    cursor = page.next_cursor;
    const seen = files;
    // While a list is read again, the old one stays.
    setState((old) => ({ files: cursor && old.files.length > seen.length ? old.files : seen, done: !cursor, error: null, started: true }));
  } while (cursor);
}
