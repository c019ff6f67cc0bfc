// Start of the console.
import { html, render } from "./core/html.js";
import { follow } from "./core/route.js";
import { takeKeyFromAddress } from "./core/session.js";
import { App } from "./views/app.js";

// Before anything else, so that the key is neither shown nor kept in the history.
takeKeyFromAddress();
follow();
addEventListener("hashchange", () => {
  takeKeyFromAddress();
  follow();
});
addEventListener("popstate", follow);

const root = document.getElementById("console");
// What the page shows until its modules are loaded.
root.replaceChildren();
render(html`<${App} />`, root);
