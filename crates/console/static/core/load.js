// Loading of a view's data: again after a change of its inputs, and when the server is back.
import { useEffect, useRef, useState } from "./html.js";
import { connection } from "./connection.js";
import { useStore } from "./store.js";

export function useLoad(fetcher, inputs) {
  const { epoch } = useStore(connection);
  const [round, setRound] = useState(0);
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const inputsKey = JSON.stringify(inputs);
  const shownFor = useRef(inputsKey);
  useEffect(() => {
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
