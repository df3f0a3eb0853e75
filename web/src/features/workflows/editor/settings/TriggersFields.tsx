import { X } from "lucide-react";
import { IconButton } from "@/ui/Button";
import { Select } from "@/ui/Select";
import type { Trigger } from "../../definition/model";
import { TRIGGERS } from "../../words";
import { TriggerForm } from "./TriggerForm";

type TriggerType = Trigger["type"];

const BLANK: { [Type in TriggerType]: Extract<Trigger, { type: Type }> } = {
  manual: { type: "manual" },
  cron: { type: "cron", schedule: "daily at 9am" },
  webhook: { type: "webhook", path: "/" },
  event: { type: "event", event_type: "" },
  file_watch: { type: "file_watch", paths: [] },
};

const MEANINGS: Record<TriggerType, string> = {
  manual: "Manually",
  cron: "On a schedule",
  webhook: "By a webhook",
  event: "On an event",
  file_watch: "When files change",
};

const TYPES = Object.keys(BLANK) as TriggerType[];

type Props = { triggers: readonly Trigger[]; onChange: (triggers: Trigger[]) => void };

/** The triggers of the workflow. It can always be started manually. */
export function TriggersFields({ triggers, onChange }: Props) {
  const put = (at: number, trigger: Trigger) => onChange(triggers.with(at, trigger));
  return (
    <>
      <ul className="space-y-2">
        {triggers.map((trigger, at) => {
          const { icon: Icon } = TRIGGERS[trigger.type];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: triggers have no name; their place is who they are
            <li key={at} className="rounded-md border border-line">
              <div className="flex h-8 items-center gap-2 pr-0.5 pl-2.5">
                <Icon size={13} aria-hidden className="text-dim" />
                <span className="font-medium">{MEANINGS[trigger.type]}</span>
                <IconButton
                  label={`Remove: ${MEANINGS[trigger.type]}`}
                  className="ml-auto"
                  onClick={() => onChange(triggers.filter((_, index) => index !== at))}
                >
                  <X size={13} aria-hidden />
                </IconButton>
              </div>
              {trigger.type !== "manual" && (
                <div className="space-y-3 border-t border-line p-2.5">
                  <TriggerForm trigger={trigger} onChange={(next) => put(at, next)} />
                </div>
              )}
            </li>
          );
        })}
      </ul>
      <Select
        label="Add a trigger"
        value=""
        options={[
          { value: "", label: "Add…" },
          ...TYPES.map((type) => ({ value: type, label: MEANINGS[type] })),
        ]}
        onChange={(type) => type && onChange([...triggers, { ...BLANK[type as TriggerType] }])}
        className="w-full"
      />
    </>
  );
}
