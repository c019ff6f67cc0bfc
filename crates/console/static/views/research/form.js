// The form that starts a run.
import { html, useState } from "../../core/html.js";
import { post } from "../../core/api.js";
import { navigate } from "../../core/route.js";
import { AreaField, Check, SelectField, TextField } from "../../parts/fields.js";
import { Options } from "../../parts/options.js";
import { Failure } from "../../parts/states.js";

const DEPTHS = [["quick", "quick: seconds"], ["standard", "standard"], ["deep", "deep: many sources"]];
const FORMATS = [["markdown", "markdown"], ["text", "plain text"], ["structured", "fields of a schema"]];
// Name, label, least and largest value.
const NUMBERS = [["max_searches", "Searches", 1, 200], ["max_documents", "Documents", 0, 500], ["max_seconds", "Seconds", 1, 3600], ["max_tokens", "Tokens", 0, 5000000]];

export function Form({ me, previous }) {
  const [form, setForm] = useState({ query: "", depth: "standard", format: "markdown", workspace: true, web: true, instructions: "", schema: "", fail: false });
  const [state, setState] = useState({ busy: false, error: null });
  const set = (name) => (value) => setForm((old) => ({ ...old, [name]: value }));
  const submit = async (event) => {
    event.preventDefault();
    setState({ busy: true, error: null });
    try {
      const created = await post("research", request(form, me, previous), { retries: 0 });
      setState({ busy: false, error: null });
      navigate("research", { id: created.research_id });
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return html`<form class="card stack" onSubmit=${submit} aria-label="Start research">
    <${AreaField} label=${previous ? "Follow-up question" : "Question"} rows=${3} dir="auto" maxlength="8000" required value=${form.query} onValue=${set("query")} placeholder="A question that needs several sources" />
    <div class="row spread">
      <fieldset class="row"><legend class="hidden-text">Indexes</legend>
        <${Check} label="Own files" checked=${form.workspace} onValue=${set("workspace")} />
        <${Check} label="Web index" checked=${form.web} onValue=${set("web")} />
      </fieldset>
      <button type="submit" class="primary" disabled=${state.busy || !form.query.trim() || !(form.workspace || form.web)}>Start</button>
    </div>
    <${Options}><div class="stack">
      <div class="fields">
        <${SelectField} label="Depth" value=${form.depth} onValue=${set("depth")} options=${DEPTHS} />
        <${SelectField} label="Report" value=${form.format} onValue=${set("format")} options=${FORMATS} />
        ${NUMBERS.map(([name, label, min, max]) => html`<${TextField} label=${`${label}, at most`} type="number" min=${min} max=${max} value=${form[name]} onValue=${set(name)} />`)}
        <${Check} label="Fail if the budget is used up" checked=${form.fail} onValue=${set("fail")} />
      </div>
      ${form.format === "structured" && html`<${AreaField} label="JSON Schema" rows=${6} value=${form.schema} onValue=${set("schema")} spellcheck=${false} />`}
      <${AreaField} label="Instructions (optional)" value=${form.instructions} onValue=${set("instructions")} />
    </div><//>
    ${state.error && html`<${Failure} error=${state.error} />`}
  </form>`;
}

function parsedSchema(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(`The schema is no JSON: ${error.message}`), { code: "validation_error" });
  }
}

function request(form, me, previous) {
  const indexes = [form.workspace && "workspace", form.web && "web"].filter(Boolean);
  const body = { query: form.query.trim(), depth: form.depth, scope: { indexes } };
  if (form.workspace) body.scope.workspace_id = me.organization.organization_id;
  if (form.instructions.trim()) body.instructions = form.instructions.trim();
  if (form.format !== "markdown") body.output = { format: form.format };
  if (form.format === "structured") body.output.schema = parsedSchema(form.schema);
  const budget = Object.fromEntries(NUMBERS.filter(([name]) => form[name]).map(([name]) => [name, Number(form[name])]));
  if (form.fail) budget.on_exceed = "fail";
  if (Object.keys(budget).length > 0) body.budget = budget;
  if (previous) body.previous_research_id = previous;
  return body;
}
