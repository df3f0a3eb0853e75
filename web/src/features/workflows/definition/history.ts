/** Undo history. Changes of the same field in quick succession are one entry. */

export type History<State> = {
  past: readonly State[];
  present: State;
  future: readonly State[];
  /** What the last change was about, and when; null if the next change must not be merged with it. */
  last: { about: string; at: number } | null;
};

export type Move<State> =
  | {
      do: "change";
      to: State;
      /** Changes about the same thing in quick succession are merged. */
      about?: string | undefined;
      at: number;
    }
  | { do: "undo" }
  | { do: "redo" }
  /** An equivalent state, which cannot be undone. */
  | { do: "adopt"; to: State }
  /** Start over with another state, without history. */
  | { do: "begin"; with: State };

const KEPT = 100;
const SHORTLY_MS = 1500;

export const begun = <State>(present: State): History<State> => ({
  past: [],
  present,
  future: [],
  last: null,
});

export function moving<State>(history: History<State>, move: Move<State>): History<State> {
  if (move.do === "begin") return begun(move.with);
  if (move.do === "adopt") return { ...history, present: move.to, last: null };
  if (move.do === "undo") return undone(history);
  if (move.do === "redo") return redone(history);
  const { to, about, at } = move;
  if (to === history.present) return history;
  const { last } = history;
  const isSame = about !== undefined && last?.about === about && at - last.at < SHORTLY_MS;
  return {
    past: isSame ? history.past : [...history.past, history.present].slice(-KEPT),
    present: to,
    future: [],
    last: about === undefined ? null : { about, at },
  };
}

function undone<State>({ past, present, future, last }: History<State>): History<State> {
  const before = past.at(-1);
  if (before === undefined) return { past, present, future, last };
  return { past: past.slice(0, -1), present: before, future: [present, ...future], last: null };
}

function redone<State>({ past, present, future, last }: History<State>): History<State> {
  const [after, ...later] = future;
  if (after === undefined) return { past, present, future, last };
  return { past: [...past, present], present: after, future: later, last: null };
}
