import { useQuery } from "@tanstack/react-query";
import { skillsQuery } from "@/api/skills";
import { JsonField } from "../fields/JsonField";
import { NameField } from "../fields/plain";
import type { ConfigForm } from "./form";

/** Run a skill with its grants. */
export function SkillForm({ config, set, references }: ConfigForm<"skill">) {
  const skills = useQuery(skillsQuery).data ?? [];
  return (
    <>
      <NameField
        label="Skill"
        value={config.skill}
        known={skills.map(({ name }) => ({ value: name, label: name }))}
        nothing="Choose a skill…"
        onChange={(skill) => set({ skill })}
      />
      <JsonField
        label="Input"
        hint={'A JSON object, or text that is passed as {"input": text}.'}
        placeholder='{ "url": "{{ inputs.url }}" }'
        value={config.input}
        references={references}
        onChange={(input) => set({ input })}
      />
    </>
  );
}
