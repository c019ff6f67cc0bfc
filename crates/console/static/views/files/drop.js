// Files of a drop or a choice, with those of folders.
const SUPPORTED = new Set("pdf html htm txt md docx pptx xlsx doc ppt xls rtf odt odp ods csv tsv".split(" "));

export const ACCEPT = [...SUPPORTED].map((extension) => `.${extension}`).join(",");

const isSupported = (name) => SUPPORTED.has(name.split(".").pop().toLowerCase());
const isHidden = (path) => path.split("/").some((part) => part.startsWith("."));

// A file of a folder is named by its path, joined as the command line does it: below the folder if that is all there is.
const item = (file, path) => ({ file, name: path.split("/").filter(Boolean).join("__") });

// Files that were chosen one by one stay, so that the server can say why it refuses them. In folders, hidden files and other types are
// passed over.
function inFolder(files) {
  const taken = files.filter(({ file, path }) => isSupported(file.name) && !isHidden(path));
  return { items: taken.map(({ file, path }) => item(file, path)), skipped: files.length - taken.length };
}

const below = ({ file, path }) => ({ file, path: path.slice(path.indexOf("/") + 1) });

export function fromInput(input) {
  const files = [...input.files];
  if (files.every((file) => !file.webkitRelativePath)) return { items: files.map((file) => item(file, file.name)), skipped: 0 };
  return inFolder(files.map((file) => below({ file, path: file.webkitRelativePath })));
}

const entriesOf = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

async function walk(entry, found) {
  if (entry.isFile) {
    found.push({ file: await fileOf(entry), path: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  // A reader returns a part at a time.
  for (let part = await entriesOf(reader); part.length > 0; part = await entriesOf(reader)) {
    for (const inner of part) await walk(inner, found);
  }
}

// Must be called in the event: the browser forgets the items after it.
export async function fromDrop(transfer) {
  const entries = [...transfer.items].filter(({ kind }) => kind === "file").map((dropped) => ({ file: dropped.getAsFile(), entry: dropped.webkitGetAsEntry?.() }));
  const items = [];
  const inFolders = [];
  for (const { file, entry } of entries) {
    if (entry?.isDirectory) await walk(entry, inFolders);
    else if (file) items.push(item(file, file.name));
  }
  const isOneFolder = entries.length === 1 && inFolders.length > 0;
  const folders = inFolder(isOneFolder ? inFolders.map(below) : inFolders);
  return { items: [...items, ...folders.items], skipped: folders.skipped };
}
