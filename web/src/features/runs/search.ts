import type { RunStatus } from "@/api/types";
import { RUN_WORD } from "@/ui/run/RunStatus";

/** The search params of the run list. */
export type RunsSearch = { status?: RunStatus | undefined; kind?: string | undefined };

const isStatus = (value: unknown): value is RunStatus =>
  typeof value === "string" && Object.hasOwn(RUN_WORD, value);

/**
 * Invalid params are ignored, since addresses can be typed by hand. Both keys are always set, because the router keeps
 * the raw value of a missing key.
 */
export function readSearch({ status, kind }: Record<string, unknown>): RunsSearch {
  return {
    status: isStatus(status) ? status : undefined,
    kind: typeof kind === "string" && kind ? kind : undefined,
  };
}
