import { Check, X } from "lucide-react";
import type { SystemStatus } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { sandboxWords } from "@/ui/sandbox";

type Report = NonNullable<SystemStatus["sandbox"]>;

/** What the sandbox tried to do from inside and could not: each is a promise that was put to the test here. */
const GUARANTEES: Record<string, string> = {
  reads: "Files outside cannot be read",
  writes: "Files outside cannot be written",
  metadata: "Modes and times of files outside stay as they are",
  protected: "`.git` in a workspace stays as it is",
  network: "There is no network",
  local_sockets: "Sockets on this machine cannot be reached",
  signals: "Other processes cannot be stopped",
  process_list: "Other processes cannot be seen",
  environment: "The environment of others cannot be read",
  survivors: "No process keeps running afterwards",
};

const BACKENDS: Record<string, string> = {
  bubblewrap: "bubblewrap",
  landlock: "Landlock",
  seatbelt: "Seatbelt",
  plain: "a plain process",
};

/** How well commands of agents are locked in on this machine, as observed and not as promised. */
export function SandboxPanel({ report }: { report: Report | null }) {
  return (
    <Panel title="Sandbox">
      <div className="space-y-3 p-3">{report ? <Observed report={report} /> : <NotTried />}</div>
    </Panel>
  );
}

function NotTried() {
  return (
    <p className="text-dim">
      Not tested yet. The test runs before the first command. <code className="mono">forge doctor</code> does
      it now.
    </p>
  );
}

function Observed({ report }: { report: Report }) {
  const { word, meaning, tone } = sandboxWords(report.level);
  return (
    <>
      <Facts>
        <Fact name="Commands are">
          <Badge tone={tone}>{word}</Badge> <span className="text-dim">{meaning}</span>
        </Fact>
        <Fact name="By">{BACKENDS[report.backend] ?? report.backend}</Fact>
        <Fact name="Required">
          {report.required === "none" ? "nothing" : sandboxWords(report.required).word}
        </Fact>
        {report.tried.map(({ backend, why }) => (
          <Fact key={backend} name="Not used">
            {BACKENDS[backend] ?? backend}: <span className="text-dim">{why}</span>
          </Fact>
        ))}
      </Facts>
      <ul aria-label="Guarantees" className="grid gap-x-6 gap-y-1 border-t border-line pt-3 sm:grid-cols-2">
        {Object.entries(report.guarantees).map(([name, holds]) => (
          <Guarantee key={name} name={name} holds={holds} />
        ))}
      </ul>
      {report.advice && (
        <p className="border-t border-line pt-3 text-wait">
          <InlineText text={report.advice} />
        </p>
      )}
    </>
  );
}

function Guarantee({ name, holds }: { name: string; holds: boolean }) {
  const Icon = holds ? Check : X;
  return (
    <li className="flex items-baseline gap-2">
      <Icon
        size={13}
        strokeWidth={2.5}
        aria-hidden
        className={`shrink-0 translate-y-0.5 ${holds ? "text-ok" : "text-bad"}`}
      />
      <span className={holds ? "" : "text-dim"}>
        <InlineText text={GUARANTEES[name] ?? name} />
        <span className={holds ? "sr-only" : "text-bad"}>{holds ? ": holds" : ": not guaranteed"}</span>
      </span>
    </li>
  );
}
