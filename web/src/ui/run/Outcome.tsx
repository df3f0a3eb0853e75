import type { Problem } from "@/api/types";
import { CopyButton } from "../CopyButton";
import { InlineText } from "../InlineText";
import { KeyValues } from "../KeyValues";
import { Panel } from "../Panel";
import { toProblem } from "../problem";

/** Why a run failed: message, hint and details to copy. */
export function Failure({ error, title = "Failed" }: { error: Problem; title?: string }) {
  return (
    <Panel
      title={title}
      tone="bad"
      actions={<CopyButton text={toProblem(error).details} label="Copy details" look="ghost" />}
    >
      <div className="space-y-1 p-3">
        <p className="font-medium break-words">{error.message}</p>
        {error.hint && (
          <p className="text-dim">
            <InlineText text={error.hint} />
          </p>
        )}
        <p className="mono text-faint">{error.code}</p>
      </div>
    </Panel>
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The output of a run. */
export function Output({ output }: { output: unknown }) {
  const json = JSON.stringify(output, null, 2);
  return (
    <Panel title="Output" actions={<CopyButton text={json} label="Copy as JSON" iconOnly />}>
      <div className="max-h-80 overflow-auto p-3">
        {isObject(output) ? (
          <KeyValues of={output} />
        ) : (
          <pre className="mono whitespace-pre-wrap">{json}</pre>
        )}
      </div>
    </Panel>
  );
}
