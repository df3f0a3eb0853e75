import { useState } from "react";
import type { Read } from "../json";

type Way<Value, Typed> = {
  value: Value;
  /** How a value is written. */
  shown: (value: Value) => Typed;
  /** What is meant by what stands there, or what is wrong with it. */
  read: (typed: Typed) => Read<Value>;
  onChange: (value: Value) => void;
};

/**
 * A value as somebody writes it. What was typed stays as it is for as long as the value is the one that was said last,
 * whether it reads back the same or not; only another value takes its place. What cannot be read is not said.
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
