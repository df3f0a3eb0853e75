import { useEffect, useState } from "react";

/** A value once it has stayed the same for a while. */
export function useQuiet<T>(value: T, ms: number): T {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setQuiet(value), ms);
    return () => window.clearTimeout(timer);
  }, [value, ms]);
  return quiet;
}
