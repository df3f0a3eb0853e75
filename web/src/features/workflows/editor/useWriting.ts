import { useCallback, useReducer } from "react";
import { begun, type History, type Move, moving } from "../definition/history";
import type { Definition } from "../definition/model";
import { type Draft, drawn, typed } from "./draft";

const reduce = (history: History<Draft>, move: Move<Draft>): History<Draft> => moving(history, move);

/** The edited draft with its undo history. */
export function useWriting(first: Draft) {
  const [history, move] = useReducer(reduce, first, begun);
  const { present: draft } = history;
  const draw = useCallback(
    (definition: Definition, about?: string) =>
      move({ do: "change", to: drawn(draft, definition), about, at: Date.now() }),
    [draft],
  );
  return {
    draft,
    draw,
    /** The YAML editor has its own undo, so all typing there is one entry here. */
    type: (source: string) => move({ do: "change", to: typed(draft, source), about: "yaml", at: 0 }),
    /** Replace the draft with an equivalent one. */
    adopt: (next: Draft) => move({ do: "adopt", to: next }),
    begin: (next: Draft) => move({ do: "begin", with: next }),
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    undo: () => move({ do: "undo" }),
    redo: () => move({ do: "redo" }),
  };
}

export type Writing = ReturnType<typeof useWriting>;
