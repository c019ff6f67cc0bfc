// Fields of forms with their labels.
import { html, useId } from "../core/html.js";

export function Field({ label, hint, children, wide }) {
  const id = useId();
  return html`<div class=${wide ? "field wide" : "field"}>
    <label for=${id}>${label}</label>
    ${children({ id, "aria-describedby": hint ? `${id}-hint` : undefined })}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}

export function TextField({ label, hint, value, onValue, wide, ...rest }) {
  return html`<${Field} label=${label} hint=${hint} wide=${wide}>
    ${(props) => html`<input type="text" ...${props} ...${rest} value=${value ?? ""} onInput=${(event) => onValue(event.target.value)} />`}
  <//>`;
}

export function AreaField({ label, hint, value, onValue, wide, rows = 2, ...rest }) {
  return html`<${Field} label=${label} hint=${hint} wide=${wide}>
    ${(props) => html`<textarea ...${props} ...${rest} rows=${rows} value=${value ?? ""} onInput=${(event) => onValue(event.target.value)}></textarea>`}
  <//>`;
}

// `options` are pairs of value and text.
export function SelectField({ label, hint, value, onValue, options }) {
  return html`<${Field} label=${label} hint=${hint}>
    ${(props) => html`<select ...${props} value=${value ?? ""} onChange=${(event) => onValue(event.target.value)}>
      ${options.map(([key, text]) => html`<option value=${key} selected=${key === (value ?? "")}>${text}</option>`)}
    </select>`}
  <//>`;
}

export function Check({ label, checked, onValue, disabled }) {
  return html`<label class="check">
    <input type="checkbox" checked=${checked} disabled=${disabled} onChange=${(event) => onValue(event.target.checked)} />
    <span>${label}</span>
  </label>`;
}

// A choice of one, as a row of buttons. `options` are pairs of value and text.
export function Segments({ label, value, onValue, options }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(([key, text]) => html`<button type="button" aria-pressed=${key === value ? "true" : "false"} onClick=${() => onValue(key)}>${text}</button>`)}
  </div>`;
}
