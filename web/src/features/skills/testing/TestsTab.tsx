import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { useState } from "react";
import { refreshRuns, skillQuery, testSkill } from "@/api/skills";
import type { SkillDetail, SkillTestReport } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CheckField } from "@/ui/CheckField";
import { formatMicros } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { Refusal } from "@/ui/Refusal";
import { formatDuration } from "@/ui/time";

const route = getRouteApi("/shell/skills/$name/tests");

/** The skill's test cases, and whether its description triggers it. */
export function TestsTab() {
  const { name } = route.useParams();
  const { data: skill } = useSuspenseQuery(skillQuery(name));
  const cache = useQueryClient();
  const [asksModel, setAsksModel] = useState(false);
  const test = useMutation({
    mutationFn: testSkill,
    meta: { isShownInPlace: true },
    onSettled: () => refreshRuns(cache, name),
  });
  return (
    <div className="mx-auto max-w-[860px] space-y-3 p-4 max-sm:p-2">
      <Panel title="Tests" count={skill.tests.length}>
        <TestFiles skill={skill} />
        <div className="flex flex-wrap items-center gap-3 border-t border-line p-3">
          <div className="min-w-0 flex-1 basis-64">
            <CheckField
              label="Trigger test"
              hint="Also asks the configured model whether the description makes it choose this skill. This has a small cost."
              checked={asksModel}
              onChange={setAsksModel}
            />
          </div>
          <Button
            look="primary"
            disabled={test.isPending}
            onClick={() => test.mutate({ name, triggers: asksModel })}
          >
            <FlaskConical size={13} aria-hidden /> {test.isPending ? "Running…" : "Run tests"}
          </Button>
        </div>
      </Panel>
      <Refusal error={test.error} />
      <div aria-live="polite" className="space-y-3">
        {test.data && <Report report={test.data} />}
      </div>
    </div>
  );
}

function TestFiles({ skill: { tests, kind } }: { skill: SkillDetail }) {
  if (tests.length === 0) {
    return (
      <p className="p-3 text-dim">
        No test cases.{" "}
        {kind === "prompt" ? (
          <>
            Instructions are not executed. Add messages that should trigger the skill in{" "}
            <span className="mono">tests/triggers.json</span>.
          </>
        ) : (
          <>
            Add a file <span className="mono">tests/name.json</span> with an input and the expected output.
          </>
        )}
      </p>
    );
  }
  return (
    <ul aria-label="Cases" className="flex flex-wrap gap-x-4 gap-y-1 p-3">
      {tests.map((name) => (
        <li key={name} className="mono break-all text-dim">
          {name}
        </li>
      ))}
    </ul>
  );
}

function Report({ report }: { report: SkillTestReport }) {
  const { passed, ran, cases, triggers, triggers_skipped: skipped, output } = report;
  return (
    <>
      <Panel
        title="Result"
        actions={
          <Badge tone={passed ? "ok" : "bad"}>{passed ? (ran ? "passed" : "checked") : "failed"}</Badge>
        }
      >
        <Cases of={cases} label="Cases" />
        {output && !passed && !cases.some(({ detail }) => detail.includes(output)) && (
          <pre
            tabIndex={0}
            className="mono max-h-64 overflow-auto border-t border-line px-3 py-2 whitespace-pre-wrap"
          >
            {output}
          </pre>
        )}
        <p className="px-3 py-2 text-xs text-dim">{summaryOf(report)}</p>
      </Panel>
      {(triggers.length > 0 || skipped) && (
        <Panel title="Does the description make a model choose it?">
          <Cases of={triggers} label="Triggers" />
          {skipped && <p className="p-3 text-dim">{skipped}</p>}
        </Panel>
      )}
    </>
  );
}

function summaryOf({ ran, cases, sandbox, duration_ms, cost_micros }: SkillTestReport): string {
  if (!ran) return "Nothing to execute; the skill was checked only.";
  const failed = cases.filter(({ passed }) => !passed).length;
  return [
    `${cases.length - failed} of ${cases.length} passed in ${formatDuration(duration_ms)}.`,
    sandbox && `Ran in the sandbox (${sandbox}).`,
    cost_micros > 0 && `Cost ${formatMicros(cost_micros)}.`,
  ]
    .filter(Boolean)
    .join(" ");
}

function Cases({ of: cases, label }: { of: SkillTestReport["cases"]; label: string }) {
  if (cases.length === 0) return null;
  return (
    <ul aria-label={label} className="divide-y divide-line border-b border-line last:border-0">
      {cases.map(({ name, passed, detail }) => (
        <li key={name} className="flex items-start gap-2 px-3 py-1.5">
          <div className="min-w-0 flex-1">
            <p className="break-words">{name}</p>
            {detail && <p className="mono break-words whitespace-pre-wrap text-dim">{detail}</p>}
          </div>
          <Badge tone={passed ? "ok" : "bad"}>{passed ? "passed" : "failed"}</Badge>
        </li>
      ))}
    </ul>
  );
}
