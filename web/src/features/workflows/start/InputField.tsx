import { useId } from "react";
import { Field, TextArea } from "@/ui/Field";
import { Select } from "@/ui/Select";
import type { Field as FormField } from "./form";

type Props = { field: FormField; text: string; mistake: string | undefined; change: (text: string) => void };

const BOOLEANS = ["true", "false"];

/** The field for one input, depending on its type. */
export function InputField({ field, text, mistake, change }: Props) {
  const { name, type, description, isRequired } = field;
  const options = field.options ?? (type === "boolean" ? BOOLEANS : null);
  const label = <Label field={field} />;
  if (options) {
    return <Choice field={field} options={options} text={text} mistake={mistake} change={change} />;
  }
  const shared = {
    label,
    hint: description || undefined,
    error: mistake,
    value: text,
    required: isRequired,
    name,
    autoComplete: "off",
    spellCheck: type === "string",
  };
  if (type === "string" || type === "number" || type === "integer") {
    const isLong = type === "string" && (text.length > 60 || text.includes("\n"));
    if (isLong) return <TextArea {...shared} rows={4} onChange={(event) => change(event.target.value)} />;
    return (
      <Field
        {...shared}
        mono={type !== "string"}
        inputMode={type === "string" ? "text" : "decimal"}
        onChange={(event) => change(event.target.value)}
      />
    );
  }
  return (
    <TextArea
      {...shared}
      mono
      rows={type === "any" ? 1 : 3}
      hint={description || (type === "any" ? "Text, or any JSON." : "As JSON.")}
      onChange={(event) => change(event.target.value)}
    />
  );
}

function Choice({ field, options, text, mistake, change }: Props & { options: readonly string[] }) {
  const id = useId();
  return (
    <div>
      <p id={id} className="mb-1 text-xs font-medium text-dim">
        <Label field={field} />
      </p>
      <Select
        label={field.name}
        aria-describedby={`${id}-note`}
        className="w-full"
        value={text}
        options={[
          { value: "", label: field.isRequired ? "Choose…" : "not set" },
          ...options.map((value) => ({ value, label: plain(value) })),
        ]}
        onChange={change}
      />
      {(mistake || field.description) && (
        <p id={`${id}-note`} className={mistake ? "mt-1 text-xs text-bad" : "mt-1 text-xs text-dim"}>
          {mistake ?? field.description}
        </p>
      )}
    </div>
  );
}

/** The text of a JSON string, without its quotes. */
function plain(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
}

function Label({ field: { name, type, isRequired } }: { field: FormField }) {
  return (
    <>
      <span className="mono text-ink">{name}</span> {type !== "any" && type}
      {isRequired && " · required"}
    </>
  );
}
