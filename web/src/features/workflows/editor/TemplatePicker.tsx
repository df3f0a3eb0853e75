import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { templatesQuery } from "@/api/workflows";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";

type Props = { begin: (template: string | null) => void };

/** Choose a template for a new workflow, or start from scratch. */
export function TemplatePicker({ begin }: Props) {
  const templates = useQuery(templatesQuery);
  return (
    <div className="mx-auto max-w-[860px] space-y-4 p-4 sm:py-8">
      <p className="text-dim">Start from a template or from scratch. Nothing is saved until you choose to.</p>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,260px),1fr))] gap-3">
        <Choice title="Blank" description="A single step." icon begin={() => begin(null)} />
        {templates.data?.map(({ id, title, description }) => (
          <Choice key={id} title={title} description={description} begin={() => begin(id)} />
        ))}
      </ul>
      {templates.isPending && <SkeletonRows rows={3} label="Loading templates" />}
      {templates.isError && <ErrorState error={templates.error} retry={templates.refetch} />}
    </div>
  );
}

type ChoiceProps = { title: string; description: string; icon?: boolean; begin: () => void };

function Choice({ title, description, icon = false, begin }: ChoiceProps) {
  return (
    <li>
      <button
        type="button"
        data-row
        onClick={begin}
        className="flex h-full w-full flex-col gap-1 rounded-lg border border-line bg-surface p-3 text-left hover:border-strong hover:bg-raised/40"
      >
        <span className="flex items-center gap-1.5 font-medium">
          {icon && <Plus size={14} aria-hidden />} {title}
        </span>
        <span className="text-dim">{description}</span>
      </button>
    </li>
  );
}
