import type { TrialReport } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Panel } from "@/ui/Panel";
import { formatDuration } from "@/ui/time";

/** The result of a skill's self-test. */
export function Trial({ report }: { report: TrialReport }) {
  const state = report.passed ? (
    <Badge tone="ok">{report.ran ? "passed" : "checked"}</Badge>
  ) : (
    <Badge tone="bad">failed</Badge>
  );
  return (
    <Panel title="Self-test" actions={state}>
      {report.cases.length > 0 && (
        <ul aria-label="Cases" className="divide-y divide-line">
          {report.cases.map(({ name, passed, detail }) => (
            <li key={name} className="flex items-start gap-2 px-3 py-1.5">
              <div className="min-w-0 flex-1">
                <p className="break-words">{name}</p>
                {detail && <p className="mono break-words text-dim">{detail}</p>}
              </div>
              <Badge tone={passed ? "ok" : "bad"}>{passed ? "passed" : "failed"}</Badge>
            </li>
          ))}
        </ul>
      )}
      {report.output && !report.passed && (
        <pre
          tabIndex={0}
          className="mono max-h-48 overflow-auto border-t border-line px-3 py-2 whitespace-pre-wrap"
        >
          {report.output}
        </pre>
      )}
      <p className="px-3 py-2 text-xs text-dim">
        {report.ran
          ? `Ran in the sandbox (${report.sandbox}), ${formatDuration(report.duration_ms)}.`
          : report.passed
            ? "Instructions are not executed; they were checked only."
            : "Not run."}
      </p>
    </Panel>
  );
}
