// Search, language choice and copy buttons of the reference.
"use strict";

document.documentElement.classList.add("js");

// The address: a server without a configured one knows only its own machine, and the browser knows where the page is.
function showAddress() {
  const shown = document.getElementById("base-url").textContent;
  const here = location.href.replace(/\/docs([?#].*)?$/, "");
  const isDefault = /^http:\/\/(localhost|127\.|\[::1\])/.test(shown);
  // Only characters that are inert in a shell and in string literals, as in the service's own address.
  if (!isDefault || here === shown || !/^https?:\/\/[\w.~:\/[\]%-]+$/.test(here)) return;
  for (const code of document.querySelectorAll("code")) {
    if (code.textContent.includes(shown)) code.textContent = code.textContent.replaceAll(shown, here);
  }
}

// Languages: one choice for all examples, kept for the next visit.
const LANGUAGE_KEY = "retrieval-docs-language";

function rememberedLanguage() {
  try {
    return localStorage.getItem(LANGUAGE_KEY);
  } catch {
    return null; // Storage can be blocked.
  }
}

function chooseLanguage(name) {
  for (const block of document.querySelectorAll(".code[data-language]")) {
    block.hidden = block.dataset.language !== name;
  }
  for (const button of document.querySelectorAll(".languages button")) {
    button.setAttribute("aria-pressed", String(button.textContent === name));
  }
}

function addLanguageButtons() {
  let names = [];
  for (const figure of document.querySelectorAll("figure.call")) {
    names = [...figure.querySelectorAll(".code[data-language]")].map((block) => block.dataset.language);
    const group = document.createElement("div");
    group.className = "languages";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Language");
    for (const name of names) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => {
        // Other examples above change their height, too: keep this one in place.
        const before = button.getBoundingClientRect().top;
        chooseLanguage(name);
        scrollBy({ top: button.getBoundingClientRect().top - before, behavior: "instant" });
        try {
          localStorage.setItem(LANGUAGE_KEY, name);
        } catch {}
      });
      group.append(button);
    }
    figure.querySelector("figcaption").after(group);
  }
  const remembered = rememberedLanguage();
  chooseLanguage(names.includes(remembered) ? remembered : names[0]);
}

// Copy buttons. The clipboard needs HTTPS or this machine; elsewhere the old command works.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("the browser refuses to copy");
}

function enableCopyButtons() {
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await copy(code.textContent);
        button.textContent = "Copied";
        button.focus();
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  }
}

// Search over operations, fields, errors and warnings, in this order.
const MAX_FOUND = 40;

function entries() {
  const all = [];
  const add = (kind, name, about, target, hidden = "") => {
    all.push({ kind, name, about, target, text: `${name} ${about} ${hidden}`.toLowerCase() });
  };
  const text = (node, selector) => node.querySelector(selector)?.textContent ?? "";
  const articles = [...document.querySelectorAll("article")];
  for (const article of articles) {
    add("operation", text(article, "h3"), `${text(article, ".verb")} ${text(article, ".route code")}`, article);
  }
  for (const article of articles) {
    for (const field of article.querySelectorAll(".fields li")) {
      const path = [text(field, ".name")];
      for (let up = field.parentElement.closest("li"); up; up = up.parentElement.closest("li")) {
        path.unshift(text(up, ".name"));
      }
      const values = [...field.querySelectorAll(":scope > .about dt")].map((value) => value.textContent).join(" ");
      add("field", path.join("."), text(article, "h3"), field, values);
    }
  }
  for (const row of document.querySelectorAll("#errors tbody tr")) {
    const [status, code, when] = [...row.cells].map((cell) => cell.textContent);
    add("error", code, `${status} ${when}`, row);
  }
  for (const code of document.querySelectorAll("#warnings dt")) {
    add("warning", code.textContent, code.nextElementSibling?.textContent ?? "", code);
  }
  return all;
}

function matches(all, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ name, text }) => {
    const plain = name.toLowerCase();
    const last = plain.split(".").pop();
    if (plain === words[0] || last === words[0]) return 0;
    if (plain.startsWith(words[0]) || last.startsWith(words[0])) return 1;
    return plain.includes(words[0]) ? 2 : 3;
  };
  const found = words.length === 0 ? [] : all.filter(({ text }) => words.every((word) => text.includes(word)));
  return found.map((entry) => [rank(entry), entry]).sort((a, b) => a[0] - b[0]).map(([, entry]) => entry);
}

function show(target) {
  for (let up = target.parentElement.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
  for (const marked of document.querySelectorAll(".marked")) marked.classList.remove("marked");
  target.classList.add("marked");
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
  const owner = target.closest("[id]");
  if (owner) history.replaceState(null, "", `#${owner.id}`);
}

function enableSearch() {
  const [input, list, count] = ["find", "found", "count"].map((id) => document.getElementById(id));
  const contents = document.getElementById("contents");
  let all;
  const clear = () => {
    input.value = "";
    update();
  };
  const update = () => {
    all ??= entries();
    const found = matches(all, input.value);
    const links = found.slice(0, MAX_FOUND).map((entry) => {
      const [item, link, about] = ["li", "a", "span"].map((name) => document.createElement(name));
      link.href = `#${entry.target.closest("[id]").id}`;
      link.textContent = entry.name;
      about.textContent = `${entry.kind} · ${entry.about}`;
      link.append(about);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        clear();
        show(entry.target);
      });
      item.append(link);
      return item;
    });
    list.replaceChildren(...links);
    const searching = input.value.trim() !== "";
    contents.hidden = searching;
    count.textContent = !searching ? "" : found.length === 1 ? "1 result" : `${found.length} results`;
  };
  input.addEventListener("input", update);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    const inSearch = event.target.closest?.(".search");
    if (event.key === "/" && !event.target.closest?.("input, textarea") && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && inSearch) {
      clear();
      input.focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && inSearch) {
      const stops = [input, ...list.querySelectorAll("a")];
      const next = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
      stops[Math.min(Math.max(next, 0), stops.length - 1)].focus();
    }
  });
  document.querySelector(".search").hidden = false;
}

showAddress();
addLanguageButtons();
enableCopyButtons();
enableSearch();
// The choice of a language moves the target of the address.
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
