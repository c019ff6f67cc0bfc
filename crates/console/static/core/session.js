// The API key, and whether it came with a link: kept in this tab's session storage only.
import { createStore } from "./store.js";

const KEY = "retrieval-console-key";
const LINKED = "retrieval-console-linked";

// Storage can be blocked; then values live as long as the page.
function stored(name) {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

function keep(name, text) {
  try {
    if (text) sessionStorage.setItem(name, text);
    else sessionStorage.removeItem(name);
  } catch {
    // See above.
  }
}

export const keyStore = createStore(stored(KEY));

// Notice above the key form or the view, such as the reason of a refusal.
export const noticeStore = createStore("");

// True while the key of a link is in use, until the user has seen for which organization it is. A reload, which a page with such a link can
// cause, changes nothing.
export const linkedStore = createStore(stored(LINKED) !== "");

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
  keep(KEY, key);
  setLinked(false);
  account.set(null);
  keyStore.set(key);
}

export function setLinked(isLinked) {
  keep(LINKED, isLinked ? "yes" : "");
  linkedStore.set(isLinked);
}

export function forget(notice = "") {
  setKey("");
  noticeStore.set(notice);
}

// Takes a key out of `#key=...` and removes it from the address and from this entry of the history. A link of somebody else would make
// the user upload files to the organization of its sender: it never replaces another key, and where there was none it is announced.
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
  // The key of this tab may have come with this link, too.
  const isLinked = !used || linkedStore.get();
  enterKey(key);
  setLinked(isLinked && keyStore.get() !== "");
}
