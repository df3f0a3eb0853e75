import { useState } from "react";
import type { Read } from "../json";

type Way<Value, Typed> = {
  value: Value;
  /** Formats a value as text. */
  shown: (value: Value) => Typed;
  /** Parses the text, or returns its problem. */
  read: (typed: Typed) => Read<Value>;
  onChange: (value: Value) => void;
};

/**
 * Keeps the typed text of a value. The text stays as typed as long as the value is the one that was last reported; only
 * a different value replaces it. Invalid text is not reported.
 */
export function useTyped<Value, Typed>({ value, shown, read, onChange }: Way<Value, Typed>) {
  const [now, setNow] = useState(() => ({ typed: shown(value), said: value }));
  if (!isSame(now.said, value)) setNow({ typed: shown(value), said: value });
  const type = (typed: Typed) => {
    const next = read(typed);
    if (next.problem !== null) return setNow({ ...now, typed });
    setNow({ typed, said: next.value });
    onChange(next.value);
  };
  return { typed: now.typed, problem: read(now.typed).problem, type };
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);
