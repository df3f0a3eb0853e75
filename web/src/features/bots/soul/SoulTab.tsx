import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { History as HistoryIcon } from "lucide-react";
import { useState } from "react";
import { fileStateQuery } from "@/api/versions";
import { AskBeforeLeaving } from "@/ui/AskBeforeLeaving";
import { Button } from "@/ui/Button";
import { ErrorState } from "@/ui/ErrorState";
import { Segmented } from "@/ui/Segmented";
import { SkeletonRows } from "@/ui/Skeleton";
import { useMedia } from "@/ui/useMedia";
import { type Drafts, withDraft } from "./draft";
import { FileEditor } from "./FileEditor";
import { History } from "./History";
import { FILES, nameOf, placeOf } from "./place";
import { VersionView } from "./VersionView";

const route = getRouteApi("/shell/bots/$slug/soul");

/** The files of a bot: edit them, view their history and roll back. */
export function SoulTab() {
  const { slug } = route.useParams();
  const place = route.useSearch();
  const navigate = useNavigate();
  const [drafts, setDrafts] = useState<Drafts>({});
  const isWide = useMedia("(min-width: 1024px)");
  const [isHistoryOpen, setHistoryOpen] = useState(isWide);
  const file = place.file ?? "soul";
  const options = FILES.map(({ value, label }) => ({ value, label: drafts[value] ? `${label} •` : label }));
  const unsaved = FILES.filter(({ value }) => drafts[value]).map(({ label }) => label);

  return (
    <div className="flex flex-col gap-2 p-3 max-sm:p-2 lg:h-full">
      <div className="flex flex-wrap items-center gap-2">
        <div className="max-w-full overflow-x-auto">
          <Segmented
            label="File"
            value={file}
            options={options}
            onChange={(value) =>
              void navigate({ to: "/bots/$slug/soul", params: { slug }, search: placeOf(value) })
            }
          />
        </div>
        <Button
          look="ghost"
          className="ml-auto"
          aria-expanded={isHistoryOpen}
          onClick={() => setHistoryOpen(!isHistoryOpen)}
        >
          <HistoryIcon size={13} aria-hidden /> History
        </Button>
      </div>
      <div className="flex min-h-0 flex-1 gap-3 max-lg:flex-col">
        <section aria-label={nameOf(file)} className="flex min-h-0 min-w-0 flex-1 flex-col gap-2">
          {place.version === undefined ? (
            <CurrentFile
              key={file}
              slug={slug}
              file={file}
              startLine={place.line}
              drafts={drafts}
              setDrafts={setDrafts}
            />
          ) : (
            <VersionView slug={slug} file={file} number={place.version} other={place.with} />
          )}
        </section>
        {isHistoryOpen && <History slug={slug} file={file} selected={place.version} />}
      </div>
      <AskBeforeLeaving when={unsaved.length > 0} what={`Unsaved changes in ${unsaved.join(", ")}`} />
    </div>
  );
}

type CurrentProps = {
  slug: string;
  file: (typeof FILES)[number]["value"];
  startLine: number | undefined;
  drafts: Drafts;
  setDrafts: (change: (before: Drafts) => Drafts) => void;
};

function CurrentFile({ slug, file, startLine, drafts, setDrafts }: CurrentProps) {
  const state = useQuery(fileStateQuery(slug, file));
  if (state.isPending) return <SkeletonRows rows={8} label={`Loading ${nameOf(file)}`} />;
  if (state.isLoadingError) return <ErrorState error={state.error} retry={state.refetch} />;
  return (
    <FileEditor
      slug={slug}
      state={state.data}
      startLine={startLine}
      draft={drafts[file]}
      setDraft={(change) => setDrafts((before) => withDraft(before, file, change(before[file])))}
    />
  );
}
