import { useEffect, useReducer } from "react";
import { readInterview } from "@/api/builder";
import { ApiError } from "@/api/client";
import { useLive } from "@/api/liveContext";
import type { Interview } from "@/api/types";
import { type Followed, follow, opened, type Told } from "./follow";

/** An interview that follows its live events, whether it is answered here, in another tab or in the CLI. */
export function useInterview(first: Interview): Followed & { tell: (told: readonly Told[]) => void } {
  const live = useLive();
  const [followed, tell] = useReducer(follow, first, opened);
  const id = first.session_id;

  useEffect(() => {
    const left = new AbortController();
    const read = () =>
      readInterview(id, left.signal).then(
        (session) => tell([{ type: "read", session }]),
        (error) => {
          if (error instanceof ApiError && error.status === 404) tell([{ type: "gone" }]);
          // Ignore other failures: the session is read again after the reconnect.
        },
      );
    const leave = live.subscribe(`interview:${id}`, "now", {
      onEvents: tell,
      // Earlier events were not delivered.
      onSubscribed: read,
      onRefused: ({ code }) => code === "not_found" && tell([{ type: "gone" }]),
    });
    return () => {
      left.abort();
      leave();
    };
  }, [live, id]);

  return { ...followed, tell };
}
