// Loads that are repeated while something is at work.
import { useEffect, useRef } from "./html.js";

const INTERVAL_MS = 2000;

// Reloads while `isActive`, as long as the page is in sight. A load that takes longer is not overtaken.
export function usePolling({ reload, loading }, isActive) {
  const latest = useRef({ reload, loading });
  latest.current = { reload, loading };
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(() => document.hidden || latest.current.loading || latest.current.reload(), INTERVAL_MS);
    return () => clearInterval(timer);
  }, [isActive]);
}
