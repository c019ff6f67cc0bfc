// Icons as outlines of 24 units.
import { html } from "../core/html.js";

const PATHS = {
  start: "M4 11.5 12 4l8 7.5M6 10v9.5h12V10M10 19.5v-5h4v5",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20.5 20.5",
  read: "M12 6.5C10 5 7 4.5 3.5 4.5v14C7 18.5 10 19 12 20.5c2-1.5 5-2 8.5-2v-14C17 4.5 14 5 12 6.5Zm0 0v14",
  files: "M3.5 6.5v12h17V8.5H12l-2-2.5H3.5Z",
  research: "M9 3.5h6M10 3.5v6L4.5 19a1 1 0 0 0 .9 1.5h13.2a1 1 0 0 0 .9-1.5L14 9.5v-6M7.5 15h9",
  web: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM3.5 12h17M12 3.5c-4.5 5-4.5 12 0 17M12 3.5c4.5 5 4.5 12 0 17",
  usage: "M4 20V4M4 20h16M8.5 16v-4M12.5 16V8M16.5 16v-6",
  keys: "M8 15.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 11.5h8.5v3M17 11.5v2.5",
  docs: "M6 3.5h8.5L18.5 8v12.5H6ZM14 3.5V8h4.5M9 12.5h6.5M9 16h6.5",
  up: "M7 11v9H4v-9h3Zm0 0 4-7.5c1.5 0 2.5 1 2.5 2.5l-.5 3.5H19a1.5 1.5 0 0 1 1.5 1.8l-1.3 6.5A2 2 0 0 1 17.2 20H7",
  down: "M17 13V4h3v9h-3Zm0 0-4 7.5c-1.5 0-2.5-1-2.5-2.5l.5-3.5H5a1.5 1.5 0 0 1-1.5-1.8l1.3-6.5A2 2 0 0 1 6.8 4H17",
  upload: "M12 15.5V4M7.5 8.5 12 4l4.5 4.5M4 15.5V20h16v-4.5",
  download: "M12 4v11.5M7.5 11 12 15.5l4.5-4.5M4 15.5V20h16v-4.5",
  trash: "M4 6.5h16M9 6.5V4h6v2.5M6 6.5 7 20h10l1-13.5M10 10.5v6M14 10.5v6",
  refresh: "M19.5 12a7.5 7.5 0 1 1-2.2-5.3L20 9.5M20 4v5.5h-5.5",
  check: "m4.5 12.5 5 5 10-11",
  cross: "m6 6 12 12M18 6 6 18",
  warning: "M12 4 2.5 20h19ZM12 10v4.5M12 17.2v.1",
  leave: "M10 4H4.5v16H10M9.5 12H20M16 8l4 4-4 4",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}
