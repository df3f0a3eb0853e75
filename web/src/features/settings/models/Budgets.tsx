import { type FormEvent, useState } from "react";
import type { ModelBudget, Models } from "@/api/types";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { FormActions } from "@/ui/FormActions";
import { Modal } from "@/ui/Modal";
import { formatMicros } from "@/ui/money";
import { Panel } from "@/ui/Panel";
import { ProgressBar } from "@/ui/ProgressBar";
import { Refusal } from "@/ui/Refusal";
import type { Tone } from "@/ui/tone";
import { setBudget, useChange } from "./models";

const MICROS = 1_000_000;
const WORDS: Record<ModelBudget["budget"], { title: string; note: string }> = {
  run: { title: "Run limit", note: "A run that reaches it stops and asks you." },
  day: { title: "Your daily limit", note: "Resets at midnight UTC." },
  shared: { title: "Shared provider", note: "What you may spend per day at the owner’s expense." },
  server: { title: "Server daily limit", note: "Set on the server with FORGE_BUDGET_SERVER_USD." },
};

export function Budgets({ models }: { models: Models }) {
  const [editing, setEditing] = useState<ModelBudget | null>(null);
  const spent = Object.entries(models.today_by_model);
  return (
    <Panel title="Budgets and today’s spend">
      <ul className="divide-y divide-line">
        {models.budgets.map((budget) => (
          <BudgetRow
            key={budget.budget + (budget.provider ?? "")}
            budget={budget}
            onEdit={() => setEditing(budget)}
          />
        ))}
      </ul>
      {spent.length > 0 && <ByModel spent={spent} />}
      {editing && (editing.budget === "run" || editing.budget === "day") && (
        <BudgetForm
          budget={editing.budget}
          limit={editing.limit_micros / MICROS}
          close={() => setEditing(null)}
        />
      )}
    </Panel>
  );
}

function BudgetRow({ budget, onEdit }: { budget: ModelBudget; onEdit: () => void }) {
  const { title: name, note } = WORDS[budget.budget];
  const title = budget.provider ? `${name}: ${budget.provider}` : name;
  const taken = budget.spent_micros + budget.reserved_micros;
  const isEach = budget.budget === "run";
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="font-medium">{title}</span>
          <span className="truncate text-xs text-dim max-sm:hidden">{note}</span>
          <span className="mono ml-auto shrink-0">
            {!isEach && <>{formatMicros(taken)} of </>}
            {formatMicros(budget.limit_micros)}
          </span>
        </p>
        {!isEach && (
          <ProgressBar
            label={`${title}: ${formatMicros(taken)} of ${formatMicros(budget.limit_micros)}`}
            done={taken / MICROS}
            total={budget.limit_micros / MICROS}
            tone={toneOf(taken, budget.limit_micros)}
            className="mt-1.5"
          />
        )}
      </div>
      <span className="-mr-2 w-[72px] shrink-0 text-right">
        {(isEach || budget.budget === "day") && (
          <Button look="ghost" aria-label={`Change ${title.toLowerCase()}`} onClick={onEdit}>
            Change
          </Button>
        )}
      </span>
    </li>
  );
}

/** Highlights a budget that is nearly used up. */
function toneOf(taken: number, limit: number): Tone {
  if (taken >= limit) return "bad";
  return taken >= 0.8 * limit ? "wait" : "ok";
}

function ByModel({ spent }: { spent: readonly [string, number][] }) {
  return (
    <dl className="border-t border-line px-3 py-2">
      {spent.map(([model, micros]) => (
        <div key={model} className="flex gap-3 py-0.5 pr-[76px]">
          <dt className="mono min-w-0 truncate text-dim" title={model}>
            {model}
          </dt>
          <dd className="mono ml-auto">{formatMicros(micros)}</dd>
        </div>
      ))}
    </dl>
  );
}

type FormProps = { budget: "run" | "day"; limit: number; close: () => void };

function BudgetForm({ budget, limit, close }: FormProps) {
  const [text, setText] = useState(String(limit));
  const save = useChange(setBudget, { done: "Budget saved.", after: close });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ budget, usd: Number(text) });
  };
  return (
    <Modal open onOpenChange={close} title={`Budget: ${WORDS[budget].title.toLowerCase()}`}>
      <form onSubmit={submit} className="mt-4 space-y-4">
        <Field
          label="Limit in dollars"
          type="number"
          min={0}
          max={1_000_000}
          step="any"
          required
          mono
          hint="A call that could exceed the remaining budget is refused."
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Refusal error={save.error} />
        <FormActions close={close} isReady={text.trim() !== "" && !save.isPending}>
          Save
        </FormActions>
      </form>
    </Modal>
  );
}
