// Scope that only the operator grants.
export const OPERATOR = "web:manage";

// Scopes in the order of the console's views.
export const SCOPES = [
  ["search:read", "Search the web index and the organization's files"],
  ["document:read", "Read documents and web pages"],
  ["feedback:write", "Send feedback on results"],
  ["files:read", "List and download files, follow indexing runs"],
  ["files:write", "Upload, index and delete files"],
  ["research:read", "Read research reports"],
  ["research:write", "Start and cancel research"],
  ["usage:read", "Read usage and spending"],
  ["keys:write", "List, create and revoke API keys"],
  ["webhooks:write", "Manage webhooks"],
  [OPERATOR, "Manage crawls and pages of the web index"],
];

export const about = (scope) => SCOPES.find(([name]) => name === scope)?.[1] ?? "";
export const may = (account, scope) => account?.credential?.scopes?.includes(scope) ?? false;
