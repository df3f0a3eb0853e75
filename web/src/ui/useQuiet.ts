import { useEffect, useState } from "react";

/** Debounce a value. */
export function useQuiet<T>(value: T, ms: number): T {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setQuiet(value), ms);
    return () => window.clearTimeout(timer);
  }, [value, ms]);
  return quiet;
}
