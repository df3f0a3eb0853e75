import { EditorPane } from "@/ui/editor/EditorPane";
import { TextArea } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import type { Language } from "../../definition/model";
import { JsonField } from "../fields/JsonField";
import type { ConfigForm } from "./form";

const BEGINNINGS: Record<Language, string> = {
  javascript: "function run(input) {\n  return input;\n}\n",
  python: "def run(input):\n    return input\n",
  wasm: "",
};

/** Run a function without access to anything but its input. */
export function CodeForm({ id, config, set, references }: ConfigForm<"code">) {
  const { language, source } = config;
  const isBlank = source.trim() === "" || Object.values(BEGINNINGS).includes(source);
  return (
    <>
      <SelectField
        label="Language"
        value={language}
        options={[
          { value: "javascript", label: "JavaScript" },
          { value: "python", label: "Python" },
          { value: "wasm", label: "WebAssembly component" },
        ]}
        onChange={(next) => set({ language: next, ...(isBlank && { source: BEGINNINGS[next] }) })}
      />
      {language === "wasm" ? (
        <TextArea
          label="Component"
          mono
          rows={5}
          hint="Base64-encoded."
          spellCheck={false}
          value={source}
          onChange={({ target }) => set({ source: target.value })}
        />
      ) : (
        <div>
          <p aria-hidden className="mb-1 text-xs font-medium text-dim">
            Source
          </p>
          <EditorPane
            key={`${id} ${language}`}
            size="h-56"
            label="Source"
            language={language}
            text={source}
            onChange={(text) => set({ source: text })}
          />
          <p className="mt-1 text-xs text-dim">
            A function run(input). Pass data through the input; templates in the source are not evaluated.
          </p>
        </div>
      )}
      <JsonField
        label="Input"
        placeholder='{ "rows": "{{ steps.fetch.output.body }}" }'
        value={config.input}
        references={references}
        onChange={(input) => set({ input })}
      />
    </>
  );
}
