import type { ReactNode } from "react";
import { formatMicros } from "./money";

/** A two-column list of names and values. Long values wrap. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[minmax(96px,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5">{children}</dl>;
}

export function Fact({ name, children }: { name: ReactNode; children: ReactNode }) {
  return (
    <>
      <dt className="text-dim">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** A JSON object as a list: simple values as text, the rest as JSON. */
export function KeyValues({ of }: { of: Record<string, unknown> }) {
  return (
    <Facts>
      {Object.entries(of).map(([name, value]) => (
        <Fact key={name} name={name.replace(MONEY, "").replaceAll("_", " ")}>
          {MONEY.test(name) && typeof value === "number" ? (
            <Value of={formatMicros(value)} />
          ) : (
            <Value of={value} />
          )}
        </Fact>
      ))}
    </Facts>
  );
}

/** Field names contain their unit: `limit_micros` is in millionths of a dollar. */
const MONEY = /_micros$/;

/** A flat list or object with one entry per line; nested ones as JSON. */
function inLines(value: object): string {
  if (!Object.values(value).every(isSimple)) return JSON.stringify(value, null, 2);
  if (Array.isArray(value)) return value.join("\n");
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${one}`)
    .join("\n");
}

const isSimple = (value: unknown): boolean => value === null || typeof value !== "object";

function Value({ of: value }: { of: unknown }): ReactNode {
  if (value === null || value === undefined || value === "") return <span className="text-faint">none</span>;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") {
    return <pre className="mono break-words whitespace-pre-wrap">{inLines(value)}</pre>;
  }
  return <span className="mono whitespace-pre-wrap">{String(value)}</span>;
}
