// Faults that pass: of the connection, of a busy or failing server, and of a proxy in front of a server that is down.
const RETRY_MS = 700;

// What the server cannot do stays so, and so does a used up quota.
const LASTING = new Set([501, 507]);

// `fault` is the error of a request, or a response. One without a status had no answer.
export const passes = ({ status }) => !status || status === 429 || (status >= 500 && !LASTING.has(status));

// Repeats a request while its faults pass and `isWanted`. Each fault is handed to `tell`.
export async function persist(request, { isWanted = () => true, tell = () => {} } = {}) {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!passes(error) || !isWanted()) throw error;
      tell(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (!isWanted()) throw error;
    }
  }
}
