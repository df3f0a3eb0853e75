import { type FormEvent, useState } from "react";
import type { BotSkill } from "@/api/types";
import { Button } from "@/ui/Button";
import { CheckField } from "@/ui/CheckField";
import { Field, TextArea } from "@/ui/Field";
import { Modal } from "@/ui/Modal";
import { Refusal } from "@/ui/Refusal";
import { changeOf, FREE, type Setup, setupOf, wrongLine } from "./setup";
import { useSkills } from "./useSkills";

type Props = { slug: string; skill: BotSkill; close: () => void };

/** The settings of a skill for this bot only. */
export function SetUpSkill({ slug, skill, close }: Props) {
  return (
    <Modal
      open
      onOpenChange={close}
      title={`Set up ${skill.name}`}
      description="These settings apply to this bot only."
      wide
    >
      <SetUpForm slug={slug} skill={skill} close={close} />
    </Modal>
  );
}

function SetUpForm({ slug, skill, close }: Props) {
  const [setup, setSetup] = useState<Setup>(() => setupOf(skill));
  const { setUp } = useSkills(slug);
  const change = (changed: Partial<Setup>) => setSetup({ ...setup, ...changed });
  const wrong = wrongLine(setup.settings);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wrong === null && !setUp.isPending) {
      setUp.mutate({ slug, name: skill.name, ...changeOf(setup, skill) }, { onSuccess: close });
    }
  };
  return (
    <form onSubmit={submit} className="mt-4 space-y-4">
      <Field
        label="Version"
        hint={`An exact version or a range such as ^1.2. Leave empty for any version.${skill.version ? ` The library has ${skill.version}.` : ""}`}
        mono
        maxLength={64}
        autoComplete="off"
        value={setup.version}
        onChange={({ target }) => change({ version: target.value })}
      />
      <TextArea
        label="Description for the bot"
        hint="Leave empty to use the skill's own description."
        rows={2}
        maxLength={1024}
        placeholder={skill.description}
        value={setup.description}
        onChange={({ target }) => change({ description: target.value })}
      />
      <TextArea
        label="Settings"
        hint="One per line, for example: region = north"
        error={wrong !== null ? `“${wrong.trim()}” is not in the form name = value.` : null}
        mono
        rows={3}
        value={setup.settings}
        onChange={({ target }) => change({ settings: target.value })}
      />
      {skill.capabilities.some((one) => one !== FREE) && (
        <Allowed skill={skill} allowed={setup.allowed} setAllowed={(allowed) => change({ allowed })} />
      )}
      <Refusal error={setUp.error} />
      <div className="flex justify-end gap-2">
        <Button look="ghost" onClick={close}>
          Cancel
        </Button>
        <Button look="primary" type="submit" disabled={wrong !== null || setUp.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

type AllowedProps = {
  skill: BotSkill;
  allowed: Setup["allowed"];
  setAllowed: (allowed: Setup["allowed"]) => void;
};

function Allowed({ skill: { capabilities, granted }, allowed, setAllowed }: AllowedProps) {
  const toggle = (one: string, isOn: boolean) =>
    setAllowed(isOn ? [...(allowed ?? []), one] : (allowed ?? []).filter((other) => other !== one));
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1 text-xs font-medium text-dim">Permissions for this bot</legend>
      <CheckField
        label="All granted permissions"
        hint="Includes future grants."
        checked={allowed === null}
        onChange={(isAll) => setAllowed(isAll ? null : [...granted])}
      />
      {allowed !== null &&
        capabilities
          .filter((one) => one !== FREE)
          .map((one) => (
            <CheckField
              key={one}
              label={one}
              hint={granted.includes(one) ? "granted" : "requested, not granted"}
              checked={allowed.includes(one)}
              onChange={(isOn) => toggle(one, isOn)}
            />
          ))}
    </fieldset>
  );
}
