import { Panel } from "@/ui/Panel";
import type { Input } from "../definition/model";

/** The inputs of a workflow. */
export function Inputs({ inputs }: { inputs: Readonly<Record<string, Input>> }) {
  const names = Object.entries(inputs);
  if (names.length === 0) return null;
  return (
    <Panel title="Inputs" count={names.length}>
      <ul className="divide-y divide-line">
        {names.map(([name, input]) => (
          <li key={name} className="px-3 py-2">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="mono">{name}</span>
              <span className="text-xs text-dim">{input.type ?? "any"}</span>
              {input.required && <span className="text-xs text-wait">required</span>}
            </p>
            {input.description && <p className="break-words text-dim">{input.description}</p>}
            {input.enum && <Said word="one of" values={input.enum} />}
            {input.default != null && <Said word="default" values={[input.default]} />}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Said({ word, values }: { word: string; values: readonly unknown[] }) {
  return (
    <p className="text-xs break-words text-dim">
      {word} <span className="mono">{values.map((value) => JSON.stringify(value)).join(", ")}</span>
    </p>
  );
}
