import { useId, useState } from "react";
import type { ModelRole, Models } from "@/api/types";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { formatPrice } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { ChainForm } from "./ChainForm";
import type { RoleName } from "./models";
import { Suggestions } from "./Suggestions";
import { TestDialog } from "./TestDialog";

/** What each role's model is used for. */
export const ROLE_WORD: Record<RoleName, string> = {
  interviewer: "interviews you about new bots and skills",
  planner: "plans the work",
  builder: "writes the code",
  auditor: "checks what was built",
  recovery: "investigates failures",
  bot: "answers as your bots",
  utility: "writes titles and summaries",
};

export function Roles({ models }: { models: Models }) {
  const [editing, setEditing] = useState<ModelRole | null>(null);
  const [testing, setTesting] = useState<string | null>(null);
  const suggestions = useId();
  const problems = [...new Set(models.roles.flatMap((role) => role.problem ?? []))];
  /** A problem shared by all roles is shown once, above the list. */
  const isOfAll = problems.length === 1 && models.roles.every((role) => role.problem);
  return (
    <Panel title="Roles" actions={<span className="text-xs text-dim">prices per million tokens</span>}>
      <Suggestions id={suggestions} models={models.known} />
      {problems.map((problem) => (
        <p key={problem} className="border-b border-line px-3 py-2 text-bad">
          {problem}
        </p>
      ))}
      <ul aria-label="Roles" className="divide-y divide-line">
        {models.roles.map((role) => (
          <RoleRow
            key={role.role}
            role={role}
            isMarked={Boolean(role.problem) && !isOfAll}
            onEdit={() => setEditing(role)}
            onTest={() => setTesting(role.chain[0] ?? "")}
          />
        ))}
      </ul>
      {editing && (
        <ChainForm role={editing} models={models} suggestions={suggestions} close={() => setEditing(null)} />
      )}
      {testing !== null && (
        <TestDialog model={testing} isCertain suggestions={suggestions} close={() => setTesting(null)} />
      )}
    </Panel>
  );
}

type RowProps = { role: ModelRole; isMarked: boolean; onEdit: () => void; onTest: () => void };

function RoleRow({ role, isMarked, onEdit, onTest }: RowProps) {
  return (
    <li
      aria-label={role.role}
      className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 px-3 py-1.5 sm:grid-cols-[200px_minmax(0,1fr)_auto]"
    >
      <div className="py-1">
        <p className="flex items-center gap-2 font-medium">
          {role.role}
          {isMarked && <Badge tone="bad">problem</Badge>}
        </p>
        <p className="text-xs text-dim max-sm:hidden">{ROLE_WORD[role.role]}</p>
      </div>
      <ol className="min-w-0 py-1 max-sm:order-last max-sm:col-span-2">
        {role.chain.map((model, index) => (
          <Choice key={model} role={role} index={index} model={model} />
        ))}
      </ol>
      <div className="-mr-2 text-right">
        <Button look="ghost" aria-label={`Test ${role.role}`} onClick={onTest}>
          Test
        </Button>
        <Button look="ghost" aria-label={`Change ${role.role}`} onClick={onEdit}>
          Change
        </Button>
      </div>
    </li>
  );
}

function Choice({ role, index, model }: { role: ModelRole; index: number; model: string }) {
  const price = role.prices?.[index];
  const word = index > 0 ? "fallback" : role.source === "default" ? "default" : "";
  return (
    <li className="flex flex-wrap items-baseline gap-x-2">
      <span className="mono break-all">{model}</span>
      <span className="text-xs text-dim">{word}</span>
      <span className="mono ml-auto text-dim">
        {price ? `${formatPrice(price.input)} in, ${formatPrice(price.output)} out` : "price unknown"}
      </span>
    </li>
  );
}
