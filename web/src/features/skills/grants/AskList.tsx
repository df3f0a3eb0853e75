import { CornerDownRight, TriangleAlert } from "lucide-react";
import { type ReactNode, useId } from "react";
import type { SkillAsk, SkillScope } from "@/api/types";
import { CAPABILITIES } from "../words";
import { type Choice, isEmptied, isFree, missing, REACHES, reachOf, withAsk, withScope } from "./choice";
import { ReachField } from "./ReachField";

type Props = {
  asks: readonly SkillAsk[];
  choice: Choice;
  onChange: (choice: Choice) => void;
  disabled?: boolean;
  /** Additional state of a request, such as whether it is granted. */
  renderState?: (ask: SkillAsk) => ReactNode;
};

/** The requested capabilities with their meaning, risk and scope. */
export function AskList({ asks, choice, onChange, disabled = false, renderState }: Props) {
  return (
    <ul aria-label="Requested capabilities" className="divide-y divide-line">
      {asks.map((ask) => (
        <li key={ask.capability} className="px-3 py-2">
          <Ask
            ask={ask}
            scope={choice[ask.capability]}
            disabled={disabled}
            onAllow={(isAllowed) => onChange(withAsk(choice, ask, isAllowed))}
            onScope={(scope) => onChange(withScope(choice, ask.capability, scope))}
            state={
              isFree(ask.capability) ? (
                <span className="text-xs text-dim">needs no grant</span>
              ) : (
                renderState?.(ask)
              )
            }
          />
        </li>
      ))}
    </ul>
  );
}

type AskProps = {
  ask: SkillAsk;
  /** undefined if it is not allowed. */
  scope: SkillScope | undefined;
  disabled: boolean;
  onAllow: (isAllowed: boolean) => void;
  onScope: (scope: SkillScope) => void;
  state: ReactNode;
};

function Ask({ ask, scope, disabled, onAllow, onScope, state }: AskProps) {
  const id = useId();
  const { icon: Icon } = CAPABILITIES[ask.capability];
  const reach = reachOf(ask.capability);
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5">
      <input
        id={id}
        type="checkbox"
        checked={scope !== undefined || isFree(ask.capability)}
        disabled={disabled || isFree(ask.capability)}
        aria-describedby={`${id}-meaning`}
        onChange={(event) => onAllow(event.target.checked)}
        className="mt-[7px] size-3.5 accent-accent pointer-coarse:mt-1 pointer-coarse:size-5"
      />
      <div className="min-w-0 space-y-1">
        <div className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1">
          <label htmlFor={id} className="flex items-center gap-1.5 font-medium">
            <Icon size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-dim" />
            <span className="inline-block first-letter:uppercase">{ask.title}</span>
          </label>
          <span className="mono text-faint">{ask.capability}</span>
          {ask.is_needed && <span className="text-xs text-dim">required</span>}
          {state && <span className="ml-auto flex flex-wrap items-center gap-2 max-sm:ml-0">{state}</span>}
        </div>
        <div id={`${id}-meaning`} className="space-y-0.5">
          <p className="break-words text-dim">{ask.allows}</p>
          <p className="flex items-baseline gap-1.5 break-words text-dim">
            <TriangleAlert size={12} aria-hidden className="shrink-0 translate-y-px text-wait" />
            <span>
              <span className="sr-only">Risk: </span>
              {ask.risk}
            </span>
          </p>
          {ask.from_parent && (
            <p className="flex items-baseline gap-1.5 text-xs text-dim">
              <CornerDownRight size={12} aria-hidden className="shrink-0 translate-y-px text-faint" />
              <span>
                Requested by <span className="mono">{ask.from_parent}</span>, which it extends.
              </span>
            </p>
          )}
        </div>
        {reach && scope && (
          <>
            <ReachField
              reach={reach}
              values={scope[reach]}
              disabled={disabled}
              {...(isEmptied(ask, scope) && { empty: `Not granted without a ${REACHES[reach].one}.` })}
              onChange={(values) => onScope({ ...scope, [reach]: values })}
            />
            <Missing
              values={missing(ask, scope, reach)}
              disabled={disabled}
              onAdd={(values) => onScope({ ...scope, [reach]: [...scope[reach], ...values] })}
            />
          </>
        )}
        {reach && !scope && ask.scope[reach].length > 0 && (
          <p className="text-xs text-dim">
            {REACHES[reach].label}: <span className="mono break-words">{ask.scope[reach].join(", ")}</span>
          </p>
        )}
      </div>
    </div>
  );
}

type MissingProps = { values: string[]; disabled: boolean; onAdd: (values: string[]) => void };

/** The skill may request more than it was granted, for example after an edit. */
function Missing({ values, disabled, onAdd }: MissingProps) {
  if (values.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-xs text-dim">
      <span>
        It also requests <span className="mono break-all">{values.join(", ")}</span>.
      </span>
      <button
        type="button"
        disabled={disabled}
        onClick={() => onAdd(values)}
        className="rounded-sm text-ink underline decoration-strong underline-offset-2 disabled:opacity-50"
      >
        Add
      </button>
    </p>
  );
}
