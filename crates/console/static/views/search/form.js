// The query and its options.
import { html, useEffect, useState } from "../../core/html.js";
import { AreaField, Check, SelectField, TextField } from "../../parts/fields.js";
import { Icon } from "../../parts/icons.js";
import { Options } from "../../parts/options.js";
import { OPTIONS, indexes } from "./request.js";

const VERBOSITY = [["", "standard"], ["ids_only", "ids_only: names only"], ["compact", "compact: with snippets"], ["full", "full: with provenance"]];
const FRESHNESS = [["", "any time"], ["pd", "past day"], ["pw", "past week"], ["pm", "past month"], ["py", "past year"]];
const EXCEED = [["", "shorten it"], ["error", "fail"]];

export function Form({ initial, submit, label, busy }) {
  const [state, setState] = useState(initial);
  const signature = JSON.stringify(initial);
  useEffect(() => setState(initial), [signature]);
  const set = (name) => (value) => setState((old) => ({ ...old, [name]: value }));
  const chosen = indexes(state);
  const toggle = (name) => (on) => {
    const next = on ? [...chosen, name] : chosen.filter((other) => other !== name);
    set("in")(next.length > 0 ? next.join(",") : name === "web" ? "workspace" : "web");
  };
  const used = OPTIONS.filter((name) => state[name]).length;
  const reset = () => setState((old) => ({ ...old, ...Object.fromEntries(OPTIONS.map((name) => [name, ""])) }));
  const text = (name, title, hint, rest = {}) => html`<${TextField} label=${title} hint=${hint} value=${state[name]} onValue=${set(name)} ...${rest} />`;
  return html`<form class="card stack" role="search" aria-label=${label} onSubmit=${(event) => { event.preventDefault(); submit(state); }}>
    <div class="row">
      <input class="grow query" type="search" name="q" dir="auto" aria-label="Query" placeholder="Ask a question, or type words" autocomplete="off" maxlength="8192" value=${state.q} onInput=${(event) => set("q")(event.target.value)} />
      <button type="submit" class="primary" disabled=${busy}><${Icon} name="search" />Search</button>
    </div>
    <div class="row spread">
      <fieldset class="row"><legend class="hidden-text">Indexes</legend>
        <${Check} label="Own files" checked=${chosen.includes("workspace")} onValue=${toggle("workspace")} />
        <${Check} label="Web index" checked=${chosen.includes("web")} onValue=${toggle("web")} />
      </fieldset>
      ${used > 0 && html`<button type="button" class="link-button small" onClick=${reset}>Reset ${used === 1 ? "1 option" : `${used} options`}</button>`}
    </div>
    <${Options} set=${used}>
      <div class="stack">
        <fieldset><legend>Filters</legend><div class="fields">
          ${text("language", "Language", "Two letters, such as en", { maxlength: 2, autocomplete: "off" })}
          ${text("country", "Country", "Two letters; web pages only", { maxlength: 2, autocomplete: "off" })}
          ${text("labels", "Labels", "Separated by commas; files only")}
          <${Check} label="Exact phrase" checked=${state.exact === "1"} onValue=${(on) => set("exact")(on ? "1" : "")} />
        </div></fieldset>
        <fieldset><legend>Publication time</legend><div class="fields">
          ${text("after", "Published after", null, { type: "date" })}
          ${text("before", "Published before", null, { type: "date" })}
          <${SelectField} label="Window that ends now" value=${state.freshness} onValue=${set("freshness")} options=${FRESHNESS} />
        </div></fieldset>
        <fieldset><legend>Sites</legend><div class="fields">
          ${text("domains", "Preferred domains", "example.com, example.org/docs")}
          ${text("without", "Excluded domains", "Their results are dropped")}
          <${Check} label="Preferred domains only" checked=${state.only === "1"} onValue=${(on) => set("only")(on ? "1" : "")} />
        </div></fieldset>
        <fieldset><legend>Answer</legend><div class="fields">
          ${text("n", "Results", "1 to 50; default 10", { type: "number", min: 1, max: 50 })}
          <${SelectField} label="Verbosity" value=${state.verbosity} onValue=${set("verbosity")} options=${VERBOSITY} />
          ${text("passages", "Passages per result", "0 to 10; default 3", { type: "number", min: 0, max: 10 })}
          ${text("chars", "Characters per result", "No limit by default", { type: "number", min: 1 })}
          ${text("budget", "Characters of the response", "About 4 per token", { type: "number", min: 1 })}
          <${SelectField} label="If it is larger" value=${state.exceed} onValue=${set("exceed")} options=${EXCEED} />
          ${text("timeout", "Timeout in ms", "Slow stages are skipped", { type: "number", min: 1 })}
        </div></fieldset>
        <fieldset><legend>Rewrites</legend>
          <${AreaField} label="Other wordings, one per line" hint="They are sent to the index instead of the query, which still ranks." value=${state.rewrites} onValue=${set("rewrites")} wide />
        </fieldset>
      </div>
    <//>
  </form>`;
}
