import type { RunStatus } from "@/api/types";
import { RUN_WORD } from "@/ui/run/RunStatus";

/** What the address of the list says to show. */
export type RunsSearch = { status?: RunStatus | undefined; kind?: string | undefined };

const isStatus = (value: unknown): value is RunStatus =>
  typeof value === "string" && Object.hasOwn(RUN_WORD, value);

/**
 * Anything that is not a status or a kind is dropped, not an error: addresses are typed by hand. Both are
 * always named, since the router keeps the raw value of a key that is left out.
 */
export function readSearch({ status, kind }: Record<string, unknown>): RunsSearch {
  return {
    status: isStatus(status) ? status : undefined,
    kind: typeof kind === "string" && kind ? kind : undefined,
  };
}
