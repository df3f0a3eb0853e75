import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { botsQuery } from "@/api/bots";
import { modelsQuery } from "@/api/models";
import { Field } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import { NameField } from "../fields/plain";
import { TemplateField } from "../fields/TemplateField";
import { TypedField } from "../fields/TypedField";
import { readObject, shownJson } from "../json";
import type { ConfigForm } from "./form";

/** All bots as options. */
export function useBotChoices() {
  const bots = useQuery(botsQuery({})).data ?? [];
  return bots.map(({ slug, identity }) => ({ value: slug, label: identity.display_name || slug }));
}

/** Ask a bot, with its soul, memory, skills and budget. */
export function AgentForm({ config, set, references }: ConfigForm<"agent">) {
  const models = useQuery(modelsQuery).data;
  const known = useId();
  return (
    <>
      <NameField
        label="Bot"
        value={config.bot}
        known={useBotChoices()}
        nothing="Choose a bot…"
        onChange={(bot) => set({ bot })}
      />
      <TemplateField
        label="Prompt"
        rows={5}
        required
        placeholder="Summarize this: {{ steps.fetch.output.body }}"
        hint="The prompt sent to the bot. Expressions in double braces are replaced."
        value={config.prompt}
        references={references}
        onChange={(prompt) => set({ prompt })}
      />
      <SelectField
        label="Conversation"
        value={config.session ?? "new"}
        options={[
          { value: "new", label: "New each time" },
          { value: "reuse", label: "Shared by all runs of this step" },
        ]}
        onChange={(session) => set({ session })}
      />
      <Field
        label="Model"
        mono
        list={known}
        placeholder="the bot's model"
        value={config.model ?? ""}
        onChange={({ target }) => set({ model: target.value || undefined })}
      />
      <datalist id={known}>
        {Object.keys(models?.prices ?? {}).map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <TypedField
        rows={4}
        label="Answer schema"
        hint="A JSON Schema the answer must match. The parsed answer is available as output.json."
        placeholder='{ "type": "object", "properties": { "title": { "type": "string" } } }'
        value={config.output_schema}
        shown={shownJson}
        read={readObject}
        references={[]}
        onChange={(output_schema) => set({ output_schema })}
      />
    </>
  );
}
