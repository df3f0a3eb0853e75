import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { Button, IconButton } from "@/ui/Button";
import { useTyped } from "./useTyped";

type Row<Value> = { key: number; name: string; value: Value };
type Pairs<Value> = Readonly<Record<string, Value>>;

type Props<Value> = {
  label: string;
  /** The singular, such as "header". */
  one: string;
  hint?: ReactNode;
  value: Pairs<Value>;
  blank: Value;
  onChange: (value: Record<string, Value>) => void;
  /** Renders the field of a value. */
  children: (name: string, value: Value, change: (value: Value) => void) => ReactNode;
};

/** Pairs of names and values. Rows without a name or with a duplicate one are ignored. */
export function PairsField<Value>({ label, one, hint, value, blank, onChange, children }: Props<Value>) {
  const { typed: rows, type: put } = useTyped<Pairs<Value>, Row<Value>[]>({
    value,
    shown: rowsOf,
    read: (rows) => ({ value: pairsOf(rows), problem: null }),
    onChange: (pairs) => onChange({ ...pairs }),
  });
  const change = (row: Row<Value>, patch: Partial<Row<Value>>) =>
    put(rows.map((other) => (other === row ? { ...other, ...patch } : other)));
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-dim">{label}</legend>
      <ul className="space-y-2">
        {rows.map((row, index) => (
          <li key={row.key} className="space-y-1.5 rounded-md border border-line p-2">
            <div className="flex gap-1.5">
              <input
                aria-label={`Name of ${one} ${index + 1}`}
                value={row.name}
                spellCheck={false}
                autoComplete="off"
                onChange={({ target }) => change(row, { name: target.value.trim() })}
                className="mono h-7 min-w-0 flex-1 rounded-md border border-line bg-bg px-2 pointer-coarse:h-9"
              />
              <IconButton
                label={`Remove ${one} ${row.name || index + 1}`}
                onClick={() => put(rows.filter((other) => other !== row))}
              >
                <X size={13} aria-hidden />
              </IconButton>
            </div>
            {children(row.name || `${one} ${index + 1}`, row.value, (value) => change(row, { value }))}
          </li>
        ))}
      </ul>
      <Button
        look="ghost"
        className="mt-1"
        onClick={() => put([...rows, { key: nextKey(rows), name: "", value: blank }])}
      >
        <Plus size={13} aria-hidden /> Add {/^[aeiou]/.test(one) ? "an" : "a"} {one}
      </Button>
      {hint && <p className="mt-1 text-xs text-dim">{hint}</p>}
    </fieldset>
  );
}

const rowsOf = <Value,>(value: Pairs<Value>): Row<Value>[] =>
  Object.entries(value).map(([name, value], key) => ({ key, name, value }));

/** The first of several rows with the same name wins. */
function pairsOf<Value>(rows: readonly Row<Value>[]): Record<string, Value> {
  const pairs: Record<string, Value> = {};
  for (const { name, value } of rows) if (name && !Object.hasOwn(pairs, name)) pairs[name] = value;
  return pairs;
}

const nextKey = (rows: readonly Row<unknown>[]): number => Math.max(-1, ...rows.map(({ key }) => key)) + 1;
