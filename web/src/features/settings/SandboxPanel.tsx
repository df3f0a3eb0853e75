import { Check, X } from "lucide-react";
import type { SystemStatus } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { sandboxWords } from "@/ui/sandbox";

type Report = NonNullable<SystemStatus["sandbox"]>;

/** The guarantees that the sandbox's self-test checks from the inside. */
const GUARANTEES: Record<string, string> = {
  reads: "Files outside cannot be read",
  writes: "Files outside cannot be written",
  metadata: "Modes and times of files outside cannot be changed",
  protected: "`.git` in a workspace cannot be changed",
  network: "The network cannot be reached",
  local_sockets: "Sockets on this machine cannot be reached",
  signals: "Other processes cannot be stopped",
  process_list: "Other processes cannot be seen",
  environment: "Environments of other processes cannot be read",
  survivors: "No process survives the command",
};

const BACKENDS: Record<string, string> = {
  bubblewrap: "bubblewrap",
  landlock: "Landlock",
  seatbelt: "Seatbelt",
  plain: "plain process",
};

/** How well commands are isolated on this machine, as observed by the self-test. */
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
        <Fact name="Isolation">
          <Badge tone={tone}>{word}</Badge> <span className="text-dim">{meaning}</span>
        </Fact>
        <Fact name="Backend">{BACKENDS[report.backend] ?? report.backend}</Fact>
        <Fact name="Required">
          {report.required === "none" ? "none" : sandboxWords(report.required).word}
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
