import { groupedBy } from "../../definition/scopes";
import type { Reference } from "../references";

type Props = { of: string; references: readonly Reference[]; insert: (text: string) => void };

/** A list of references; the chosen one is inserted into the text. */
export function ReferenceSelect({ of, references, insert }: Props) {
  const groups = [...groupedBy(references, ({ group }) => group)];
  return (
    <select
      aria-label={`Insert into ${of}`}
      value=""
      onChange={(event) => insert(event.target.value)}
      className="select h-5 max-w-28 appearance-none rounded-sm px-1 text-xs text-dim hover:bg-raised hover:text-ink pointer-coarse:h-8"
    >
      <option value="">Insert…</option>
      {groups.map(([group, found]) => (
        <optgroup key={group} label={group}>
          {found.map(({ label, text }) => (
            <option key={text} value={text}>
              {label}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}
