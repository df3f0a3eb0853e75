import type { WorkflowDetail, WorkflowTrigger } from "@/api/types";
import { CopyButton } from "@/ui/CopyButton";
import { InlineText } from "@/ui/InlineText";
import { Panel } from "@/ui/Panel";
import { Ago, Until } from "@/ui/Time";
import { TRIGGERS } from "../words";

/** The triggers with their next and last time, or their error. */
export function Triggers({ workflow: { triggers, is_enabled } }: { workflow: WorkflowDetail }) {
  return (
    <Panel title="Triggers" count={triggers.length}>
      {!is_enabled && (
        <p className="wash-wait border-b px-3 py-1.5">Disabled: can only be started manually.</p>
      )}
      <ul className="divide-y divide-line">
        {triggers.map((trigger, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two triggers may be alike, and they never move
          <Trigger key={at} trigger={trigger} isEnabled={is_enabled} />
        ))}
      </ul>
      {triggers.length === 0 && <p className="p-3 text-dim">Started manually or by another workflow.</p>}
    </Panel>
  );
}

function Trigger({ trigger, isEnabled }: { trigger: WorkflowTrigger; isEnabled: boolean }) {
  const { type, title, next_at, last_fired_at, url, error } = trigger;
  const { icon: Icon, word } = TRIGGERS[type];
  return (
    <li className="flex gap-2.5 px-3 py-2">
      <Icon size={14} aria-hidden className="mt-[3px] shrink-0 text-faint" />
      <div className="min-w-0 flex-1">
        <p className="break-words">
          <span className="sr-only">{word}: </span>
          {title}
        </p>
        {url && (
          <p className="flex items-center gap-1">
            <span className="mono min-w-0 truncate text-dim" title={url}>
              {url}
            </span>
            <CopyButton text={url} label="Copy address" iconOnly />
          </p>
        )}
        {(next_at || last_fired_at) && (
          <p className="flex flex-wrap gap-x-3 text-xs text-dim">
            {next_at && isEnabled && (
              <span>
                next <Until at={next_at} className="mono" />
              </span>
            )}
            {last_fired_at && (
              <span>
                last <Ago at={last_fired_at} className="mono" />
              </span>
            )}
          </p>
        )}
        {error && (
          <p className="text-xs break-words text-bad">
            <InlineText text={error} />
          </p>
        )}
      </div>
    </li>
  );
}
