// Search: one, or two side by side.
import { html, useState } from "../../core/html.js";
import { navigate } from "../../core/route.js";
import { NAMES, read, write } from "./request.js";
import { Panel } from "./panel.js";

const SECOND = "b.";

export function Search({ params, me }) {
  const isCompared = params.compare === "1";
  const [answers, setAnswers] = useState({});
  const submit = (prefix) => (state) => navigate("search", { ...params, ...write(state, prefix) });
  const compare = () => {
    const cleared = Object.fromEntries(NAMES.map((name) => [SECOND + name, ""]));
    navigate("search", isCompared ? { ...params, ...cleared, compare: "" } : { ...params, ...write(read(params, ""), SECOND), compare: "1" });
  };
  const panel = (prefix, label, own, other) => html`<${Panel} key=${prefix} params=${params} me=${me} prefix=${prefix} label=${label} submit=${submit(prefix)}
    other=${isCompared ? answers[other] : null} onAnswer=${(answer) => setAnswers((old) => ({ ...old, [own]: answer }))} />`;
  return html`
    <div class="head">
      <h1>Search</h1>
      <button type="button" class="small-button" aria-pressed=${isCompared ? "true" : "false"} onClick=${compare}>${isCompared ? "Close comparison" : "Compare two searches"}</button>
    </div>
    ${isCompared
      ? html`<div class="columns">${panel("", "First search", "first", "second")}${panel(SECOND, "Second search", "second", "first")}</div>`
      : panel("", "Search", "first", "second")}`;
}
