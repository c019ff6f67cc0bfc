// Loading of a view's data: again after a change of its inputs, and when the server is back.
import { useEffect, useRef, useState } from "./html.js";
import { connection } from "./connection.js";
import { useStore } from "./store.js";

// With `once`, data that has arrived stays when the server is back.
export function useLoad(fetcher, inputs, { once = false } = {}) {
  const { epoch } = useStore(connection);
  const [round, setRound] = useState(0);
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const inputsKey = JSON.stringify(inputs);
  const shownFor = useRef(inputsKey);
  const askedFor = useRef("");
  useEffect(() => {
    const wanted = JSON.stringify([inputsKey, round]);
    const isThere = state.data && !state.error && !state.loading && askedFor.current === wanted;
    askedFor.current = wanted;
    if (once && isThere) return undefined;
    const controller = new AbortController();
    const isSame = shownFor.current === inputsKey;
    shownFor.current = inputsKey;
    setState((old) => ({ data: isSame ? old.data : null, error: null, loading: true }));
    fetcher(controller.signal).then(
      (data) => controller.signal.aborted || setState({ data, error: null, loading: false }),
      (error) => {
        if (controller.signal.aborted) return;
        setState((old) => ({ data: error.code === "offline" ? old.data : null, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [inputsKey, epoch, round]);
  return { ...state, reload: () => setRound((value) => value + 1) };
}
