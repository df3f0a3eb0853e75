import type { Run } from "@/api/types";
import { CopyButton } from "@/ui/CopyButton";

/** Kind and ID of the run, for use in the CLI. */
export function Identity({ run }: { run: Run }) {
  return (
    <p className="mono flex items-center gap-2 px-3 text-faint">
      <span className="shrink-0">{run.kind}</span>
      <span className="truncate">{run.id}</span>
      <CopyButton text={run.id} label="Copy ID" iconOnly />
    </p>
  );
}
