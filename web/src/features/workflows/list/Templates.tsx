import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { templatesQuery } from "@/api/workflows";

/** Templates for a first workflow. */
export function Templates() {
  const templates = useQuery(templatesQuery).data ?? [];
  if (templates.length === 0) return null;
  return (
    <section aria-labelledby="templates" className="mx-auto max-w-[1080px] px-4 pb-8 max-sm:px-2">
      <h2 id="templates" className="mb-2 text-xs font-semibold text-dim">
        Start from a template
      </h2>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,300px),1fr))] gap-3">
        {templates.map(({ id, title, description }) => (
          <li key={id}>
            <Link
              to="/workflows/new"
              search={{ template: id }}
              data-row
              className="flex h-full flex-col gap-1 rounded-lg border border-line bg-surface p-3 -outline-offset-2 hover:border-strong hover:bg-raised/40"
            >
              <span className="font-medium">{title}</span>
              <span className="text-dim">{description}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
