import { useQuery } from "@tanstack/react-query";
import { secretsQuery } from "@/api/secrets";
import { Disclosure } from "@/ui/Disclosure";
import { SelectField } from "@/ui/SelectField";
import type { Method } from "../../definition/model";
import { JsonField } from "../fields/JsonField";
import { PairsField } from "../fields/PairsField";
import { LinesField, NumberField } from "../fields/plain";
import { TemplateField } from "../fields/TemplateField";
import type { Reference } from "../references";
import type { ConfigForm } from "./form";

const METHODS: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const USUAL_BYTES = 1 << 20;
const STATUS = /^[1-5]\d\d$/;
const NO_BODY: readonly Method[] = ["GET", "HEAD"];

/** Make an HTTP request. Secrets are inserted by name and never shown. */
export function HttpForm({ config, set, references }: ConfigForm<"http">) {
  const method = config.method ?? "GET";
  const withSecrets = [...useSecretReferences(), ...references];
  return (
    <>
      <SelectField
        label="Method"
        value={method}
        options={METHODS.map((value) => ({ value, label: value }))}
        onChange={(value) => set({ method: value })}
      />
      <TemplateField
        label="URL"
        required
        placeholder="https://api.example.com/items/{{ inputs.id }}"
        hint="Private addresses are only reachable if the settings allow them."
        value={config.url}
        references={withSecrets}
        onChange={(url) => set({ url })}
      />
      <PairsField
        label="Headers"
        one="header"
        blank=""
        value={config.headers ?? {}}
        onChange={(headers) => set({ headers: Object.keys(headers).length > 0 ? headers : undefined })}
      >
        {(name, value, change) => (
          <TemplateField
            label={`Value of ${name}`}
            value={value}
            references={withSecrets}
            onChange={change}
          />
        )}
      </PairsField>
      {(!NO_BODY.includes(method) || config.body !== undefined) && (
        <JsonField
          label="Body"
          hint="Text is sent as is; anything else as JSON."
          value={config.body}
          references={withSecrets}
          onChange={(body) => set({ body })}
        />
      )}
      <Disclosure
        title="Response"
        isOpen={config.expect_status !== undefined || (config.max_bytes ?? USUAL_BYTES) !== USUAL_BYTES}
      >
        <LinesField
          label="Accepted status codes"
          placeholder="200"
          hint="One per line. Default: every status below 400. Other statuses fail the step."
          value={(config.expect_status ?? []).map(String)}
          problemOf={(line) => (STATUS.test(line) ? null : "A status code is a number from 100 to 599.")}
          onChange={(lines) => set({ expect_status: lines.length > 0 ? lines.map(Number) : undefined })}
        />
        <NumberField
          label="Maximum response size, in bytes"
          usual={String(USUAL_BYTES)}
          min={1}
          max={8 << 20}
          value={config.max_bytes}
          onChange={(max_bytes) => set({ max_bytes })}
        />
      </Disclosure>
    </>
  );
}

/** References to the secrets in the vault. */
function useSecretReferences(): Reference[] {
  const secrets = useQuery(secretsQuery).data ?? [];
  const names = new Set(secrets.map(({ name }) => name));
  return [...names].map((name) => ({ group: "Secrets", label: name, text: `secrets.${name}` }));
}
