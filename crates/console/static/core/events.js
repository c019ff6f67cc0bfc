// Server-sent events over fetch, because EventSource cannot send the key.

// Calls `receive({id, event, data})` for each event of the body, until it ends.
export async function readEvents(body, receive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let current = { id: "", event: "message", data: [] };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (current.data.length > 0) receive({ ...current, data: current.data.join("\n") });
        current = { id: current.id, event: "message", data: [] };
        continue;
      }
      // A comment keeps the connection alive.
      if (line.startsWith(":")) continue;
      const [, field, text] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (field === "data") current.data.push(text);
      else if (field === "id") current.id = text;
      else if (field === "event") current.event = text;
    }
  }
}
