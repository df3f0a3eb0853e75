import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "@/ui/toast";
import { asDefinition } from "../definition/model";
import { wishOf } from "./draft";
import { readingQuery } from "./useReading";
import type { Writing } from "./useWriting";

export type Mode = "canvas" | "yaml";

const COMMENT = /(^|\s)#/;

/** Switches between canvas and YAML. The server converts the newer of the two before the other is shown. */
export function useMode({ draft, adopt }: Writing, first: Mode) {
  const cache = useQueryClient();
  const [mode, setMode] = useState(first);
  const [isAsking, setAsking] = useState(false);
  const follow = useMutation({
    mutationFn: async ({ to, isSure }: { to: Mode; isSure: boolean }) => {
      if (draft.ahead === null || (draft.ahead === "definition") !== (to === "yaml")) return setMode(to);
      const reading = await cache.fetchQuery(readingQuery(wishOf(draft)));
      if (to === "yaml") {
        // An invalid definition cannot be merged into YAML with comments.
        if (!reading.definition && COMMENT.test(draft.source) && !isSure) return setAsking(true);
        adopt({ ...draft, source: reading.source, ahead: null });
        return setMode(to);
      }
      if (!reading.definition) {
        return toast.error("The YAML cannot be shown on the canvas. Fix the problems listed below it first.");
      }
      adopt({ ...draft, definition: asDefinition(reading.definition), ahead: null });
      setMode(to);
    },
  });
  return {
    mode,
    isPending: follow.isPending,
    show: (to: Mode) => follow.mutate({ to, isSure: false }),
    /** A confirmation is required because comments would be lost. */
    asking: isAsking
      ? {
          goOn: () => {
            setAsking(false);
            follow.mutate({ to: "yaml", isSure: true });
          },
          stay: () => setAsking(false),
        }
      : null,
  };
}
