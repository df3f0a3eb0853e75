import { Link } from "@tanstack/react-router";
import type { InstalledSkill } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { count } from "@/ui/count";
import { InlineText } from "@/ui/InlineText";
import { STATES } from "../words";

type Props = { results: readonly InstalledSkill[]; review: () => void; close: () => void };

/** Which skills were installed, and why others were not. */
export function Results({ results, review, close }: Props) {
  const failed = results.filter(({ installed }) => !installed);
  const done = results.length - failed.length;
  return (
    <div className="mt-3 space-y-3">
      <p role="status">
        {done > 0 && `${count(done, "skill")} installed.`}{" "}
        {failed.length > 0 && `${failed.length} could not be installed.`}
      </p>
      <ul
        aria-label="Results"
        tabIndex={0}
        className="max-h-[48vh] divide-y divide-line overflow-auto rounded-md border border-line"
      >
        {[...failed, ...results.filter(({ installed }) => installed)].map((result) => (
          <li key={`${result.name} ${result.path}`} className="flex items-start gap-2 px-3 py-1.5">
            <Result result={result} close={close} />
          </li>
        ))}
      </ul>
      <div className="flex justify-end gap-2">
        {failed.length > 0 && <Button onClick={review}>Back to the skills</Button>}
        <Button look="primary" onClick={close}>
          Done
        </Button>
      </div>
    </div>
  );
}

function Result({ result, close }: { result: InstalledSkill; close: () => void }) {
  const { name, installed, is_new, problem, hint, state, version } = result;
  const { word, tone } = STATES[state ?? "ready"];
  return (
    <>
      <div className="min-w-0 flex-1 break-words">
        {installed ? (
          <Link
            to="/skills/$name"
            params={{ name }}
            onClick={close}
            className="mono rounded-sm font-medium underline decoration-strong underline-offset-2 hover:decoration-ink"
          >
            {name}
          </Link>
        ) : (
          <span className="mono font-medium">{name}</span>
        )}{" "}
        <span className="mono text-dim">{version}</span>
        {problem && (
          <p className={installed ? "text-dim" : "text-bad"}>
            <InlineText text={problem} />
          </p>
        )}
        {hint && (
          <p className="text-xs text-dim">
            <InlineText text={hint} />
          </p>
        )}
      </div>
      {installed ? (
        <>
          <span className="text-xs text-dim max-sm:hidden">{is_new ? "new" : "replaced"}</span>
          <Badge tone={tone}>{word}</Badge>
        </>
      ) : (
        <Badge tone="bad">not installed</Badge>
      )}
    </>
  );
}
