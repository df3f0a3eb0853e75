import { CheckField } from "@/ui/CheckField";
import { Field } from "@/ui/Field";
import { SelectField } from "@/ui/SelectField";
import type { Input, InputType } from "../../definition/model";
import { JsonField } from "../fields/JsonField";
import { PairsField } from "../fields/PairsField";
import { TypedField } from "../fields/TypedField";
import { readList, shownJson } from "../json";

const TYPES: readonly InputType[] = ["any", "string", "number", "integer", "boolean", "array", "object"];

type Props = { inputs: Readonly<Record<string, Input>>; onChange: (inputs: Record<string, Input>) => void };

/** The inputs of the workflow. */
export function InputsFields({ inputs, onChange }: Props) {
  return (
    <PairsField<Input>
      label="Inputs"
      one="input"
      blank={{ type: "string" }}
      hint="Available to steps as inputs.name."
      value={inputs}
      onChange={onChange}
    >
      {(name, input, change) => (
        <>
          <SelectField
            label={`Type of ${name}`}
            value={input.type ?? "any"}
            options={TYPES.map((type) => ({ value: type, label: type }))}
            onChange={(type) => change({ ...input, type })}
          />
          <Field
            label={`Description of ${name}`}
            value={input.description ?? ""}
            onChange={({ target }) => change({ ...input, description: target.value || undefined })}
          />
          <CheckField
            label="Required"
            hint="A run cannot start without it."
            checked={input.required ?? false}
            onChange={(required) => change({ ...input, required: required || undefined })}
          />
          {!input.required && (
            <JsonField
              label={`Default of ${name}`}
              rows={1}
              value={input.default}
              references={[]}
              onChange={(value) => change({ ...input, default: value })}
            />
          )}
          <TypedField
            label={`Values of ${name}`}
            placeholder='["small", "large"]'
            hint="A JSON list of allowed values."
            value={input.enum}
            shown={shownJson}
            read={readList}
            references={[]}
            onChange={(values) => change({ ...input, enum: values })}
          />
        </>
      )}
    </PairsField>
  );
}
