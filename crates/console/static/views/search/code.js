// The request as a program. The key is read from the environment unless asked for.
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function python(value, indent = "") {
  const inner = `${indent}    `;
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map((item) => python(item, inner)).join(", ")}]`;
  if (typeof value === "object") {
    const fields = Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${python(item, inner)},\n`);
    return `{\n${fields.join("")}${indent}}`;
  }
  return JSON.stringify(value);
}

export const LANGUAGES = ["curl", "Python", "JavaScript"];

export function program(language, base, request, key) {
  const url = `${base}/v1/search`;
  if (language === "curl") {
    const credential = key ? shell(`Authorization: Bearer ${key}`) : '"Authorization: Bearer $RETRIEVAL_API_KEY"';
    return `curl -sS --fail-with-body ${shell(url)} \\\n  -H ${credential} \\\n  -H 'Content-Type: application/json' \\\n  -d ${shell(JSON.stringify(request, null, 2))}\n`;
  }
  if (language === "Python") {
    const credential = key ? JSON.stringify(key) : 'os.environ["RETRIEVAL_API_KEY"]';
    return `import json\nimport os\nimport urllib.request\n\nbody = ${python(request)}\ncall = urllib.request.Request(\n    ${JSON.stringify(url)},\n    data=json.dumps(body).encode(),\n    headers={"Authorization": "Bearer " + ${credential}, "Content-Type": "application/json"},\n)\nwith urllib.request.urlopen(call) as response:\n    found = json.load(response)\nfor result in found["results"] or []:\n    print(result["rank"], result["canonical_url"], result.get("title"))\n`;
  }
  const credential = key ? JSON.stringify(key) : "process.env.RETRIEVAL_API_KEY";
  return `const response = await fetch(${JSON.stringify(url)}, {\n  method: "POST",\n  headers: { Authorization: "Bearer " + ${credential}, "Content-Type": "application/json" },\n  body: JSON.stringify(${JSON.stringify(request, null, 2).replaceAll("\n", "\n  ")}),\n});\nif (!response.ok) throw new Error(await response.text());\nconst found = await response.json();\nfor (const result of found.results ?? []) console.log(result.rank, result.canonical_url, result.title);\n`;
}
