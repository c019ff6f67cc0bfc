// State of the connection to the server: lost by a failed request, found again by polling.
import { passes } from "./faults.js";
import { createStore } from "./store.js";

const POLL_MS = 2000;
const HERE = new URL("../", import.meta.url);

// `epoch` counts reconnections: views load again when it changes.
export const connection = createStore({ online: true, epoch: 0 });

let timer = null;

export function lost() {
  if (!connection.get().online) return;
  connection.set((state) => ({ ...state, online: false }));
  timer = setTimeout(poll, POLL_MS);
}

export async function poll() {
  clearTimeout(timer);
  try {
    const response = await fetch(HERE, { method: "HEAD", cache: "no-store" });
    // A proxy answers for a server that is down.
    if (passes(response)) throw new Error("not reachable");
    connection.set((state) => (state.online ? state : { online: true, epoch: state.epoch + 1 }));
  } catch {
    timer = setTimeout(poll, POLL_MS);
  }
}

addEventListener("offline", lost);
addEventListener("online", () => connection.get().online || poll());
