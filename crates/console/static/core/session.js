// The API key: kept in this tab's session storage only.
import { createStore } from "./store.js";

const NAME = "retrieval-console-key";

// Storage can be blocked; then the key lives as long as the page.
function stored() {
  try {
    return sessionStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

export const keyStore = createStore(stored());

// Notice above the key form or the view, such as the reason of a refusal.
export const noticeStore = createStore("");

// Counter of sign-ins: what an earlier key loaded is dropped.
export const account = createStore(null);

// Characters that a header can carry. Anything else was mistyped.
const POSSIBLE = /^[\x21-\x7e]{1,4096}$/;

export function enterKey(text) {
  const key = text.trim();
  const isPossible = POSSIBLE.test(key);
  noticeStore.set(isPossible || !key ? "" : "This is no key: it has blanks or unusual characters.");
  setKey(isPossible ? key : "");
}

function setKey(key) {
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch {
    // The key then lives as long as the page.
  }
  account.set(null);
  keyStore.set(key);
}

export function forget(notice = "") {
  setKey("");
  noticeStore.set(notice);
}

// Takes a key out of `#key=...` and removes it from the address and from this entry of the history. It never replaces another key: a
// link of somebody else would make the user upload files to the organization of its sender.
export function takeKeyFromAddress() {
  const found = /^#\/?(?:\?)?key=([^&]+)/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  let key = found[1];
  try {
    key = decodeURIComponent(key);
  } catch {
    // Not encoded.
  }
  const used = keyStore.get();
  if (used && used !== key.trim()) {
    noticeStore.set("The link has another key, which was not used. To use it, forget the key of this tab first, and open the link again.");
    return;
  }
  enterKey(key);
}
