// Answers of this page: going back neither searches nor pays again.
import { timed } from "../../core/api.js";
import { keyStore } from "../../core/session.js";

const MAX_KEPT = 30;

let kept = new Map();

// Forgets all answers, because the index has changed. Answers under way belong to the old index, too.
export function forgetAnswers() {
  kept = new Map();
}

keyStore.subscribe(forgetAnswers);

// Name of a request among the answers.
export const nameOf = (request) => JSON.stringify(request);

export const forgetAnswer = (request) => kept.delete(nameOf(request));

// Returns the answer and its time, at most once from the server.
export async function search(request, signal) {
  const own = kept;
  const name = nameOf(request);
  if (own.has(name)) return own.get(name);
  const answer = await timed("POST", "search", { body: request, signal });
  own.set(name, answer);
  if (own.size > MAX_KEPT) own.delete(own.keys().next().value);
  return answer;
}
