// One research run, followed live.
import { useEffect, useRef, useState } from "../../core/html.js";
import { get, stream } from "../../core/api.js";
import { readEvents } from "../../core/events.js";
import { passes } from "../../core/faults.js";

const RETRY_MS = 1500;
const REFRESH_MS = 1000;
const TERMINAL = new Set(["completed", "failed", "cancelled"]);

export const isOver = (run) => TERMINAL.has(run?.status);

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
});

// Returns {run, events, error}. A stream that breaks is resumed after the last event.
export function useRun(id) {
  const [state, setState] = useState({ run: null, events: [], error: null });
  const [round, setRound] = useState(0);
  const last = useRef("");
  useEffect(() => {
    const controller = new AbortController();
    last.current = "";
    setState({ run: null, events: [], error: null });
    followRun(id, last, setState, controller.signal).catch((error) => {
      if (!controller.signal.aborted) setState((old) => ({ ...old, error }));
    });
    return () => controller.abort();
  }, [id, round]);
  return { ...state, reload: () => setRound((value) => value + 1) };
}

async function followRun(id, last, setState, signal) {
  const path = `research/${encodeURIComponent(id)}`;
  let refreshed = 0;
  const refresh = async () => {
    const run = await get(path, {}, { signal });
    refreshed = Date.now();
    setState((old) => ({ ...old, run, error: null }));
    return run;
  };
  const seen = new Set();
  const receive = ({ id: number, event, data }) => {
    if (number) last.current = number;
    let body;
    try {
      body = JSON.parse(data);
    } catch {
      return;
    }
    const sequence = body.sequence ?? number;
    if (seen.has(sequence)) return;
    seen.add(sequence);
    setState((old) => ({ ...old, events: [...old.events, { ...body, kind: event.replace(/^research\./, ""), sequence }] }));
    // Counters move with each step; one read a second follows them.
    if (/\.(plan|completed|failed|cancelled)$/.test(event) || Date.now() - refreshed > REFRESH_MS) {
      refreshed = Date.now();
      refresh().catch(() => {});
    }
  };
  await refresh();
  while (!signal.aborted) {
    const cut = await faultOf(async () => readEvents(await stream(`${path}/events`, { lastEventId: last.current, signal }), receive), signal);
    if (signal.aborted) return;
    // Also without a stream, which is refused if the organization has many: the run itself tells of its end.
    let run;
    await faultOf(async () => { run = await refresh(); }, signal);
    // A finished run was replayed to its end, or will not be.
    if (isOver(run) && (!cut || cut.status)) return;
    await pause(RETRY_MS, signal);
  }
}

// Returns the error that ended the work, if a later attempt may succeed.
async function faultOf(work, signal) {
  try {
    await work();
    return null;
  } catch (error) {
    if (!signal.aborted && !passes(error)) throw error;
    return error;
  }
}
