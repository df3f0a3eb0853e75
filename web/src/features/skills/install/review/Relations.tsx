import type { SkillRelation } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { InlineText } from "@/ui/InlineText";

type Props = { needs: readonly SkillRelation[]; conflicts: readonly SkillRelation[] };

/** Skills that it depends on or conflicts with. */
export function Relations({ needs, conflicts }: Props) {
  return (
    <>
      {needs.length > 0 && <List title="Needs" relations={needs} fine="in the library" />}
      {conflicts.length > 0 && (
        <List title="Conflicts with" relations={conflicts} fine="not in the library" />
      )}
    </>
  );
}

type ListProps = { title: string; relations: readonly SkillRelation[]; fine: string };

function List({ title, relations, fine }: ListProps) {
  return (
    <section>
      <h4 className="mb-1 text-xs font-semibold text-dim">{title}</h4>
      <ul aria-label={title} className="space-y-0.5">
        {relations.map(({ name, range, version, problem }) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-2">
            <Dot tone={problem ? "wait" : "ok"} className="translate-y-px" />
            <span className="mono">
              {name}
              {range !== "*" && ` ${range}`}
            </span>
            <span className={problem ? "text-wait" : "text-dim"}>
              {problem ? <InlineText text={problem} /> : [fine, version].filter(Boolean).join(": ")}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
