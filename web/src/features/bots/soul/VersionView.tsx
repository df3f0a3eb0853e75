import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Undo2 } from "lucide-react";
import { useState } from "react";
import type { BotFile, FileVersionDetail } from "@/api/types";
import { diffQuery, versionQuery, versionsQuery } from "@/api/versions";
import { Button, buttonClass } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { CopyButton } from "@/ui/CopyButton";
import { Diff } from "@/ui/Diff";
import { ErrorState } from "@/ui/ErrorState";
import { EditorPane } from "@/ui/editor/EditorPane";
import { Select } from "@/ui/Select";
import { SkeletonRows } from "@/ui/Skeleton";
import { Ago } from "@/ui/Time";
import { languageOf, nameOf, placeOf, THE_FILE } from "./place";
import { useTakingBack } from "./useTakingBack";

type Props = { slug: string; file: BotFile; number: number; other: number | undefined };

/** An older version: its text, or its differences to another one. */
export function VersionView({ slug, file, number, other }: Props) {
  const version = useQuery(versionQuery(slug, file, number));
  return (
    <>
      <Bar slug={slug} file={file} number={number} other={other} />
      {version.data && <About version={version.data} />}
      {version.isPending && <SkeletonRows rows={8} label="Loading version" />}
      {version.isLoadingError && <ErrorState error={version.error} retry={version.refetch} />}
      {other !== undefined && <Comparison slug={slug} file={file} number={number} other={other} />}
      {version.data && other === undefined && (
        <EditorPane
          label={`Version ${number} of ${nameOf(file)}`}
          language={languageOf(file)}
          text={version.data.content}
          isReadOnly
        />
      )}
    </>
  );
}

function Bar({ slug, file, number, other }: Props) {
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const { rollback } = useTakingBack(slug, file);
  const versions =
    useInfiniteQuery(versionsQuery(slug, file)).data?.pages.flatMap((page) => page.items) ?? [];
  const options = [
    { value: "", label: "Compare with…" },
    { value: String(THE_FILE), label: "current file" },
    ...versions
      .filter((version) => version.number !== number)
      .map((version) => ({ value: String(version.number), label: `version ${version.number}` })),
  ];
  const compare = (value: string) => {
    const search = { ...placeOf(file), version: number, ...(value !== "" && { with: Number(value) }) };
    void navigate({ to: "/bots/$slug/soul", params: { slug }, search, replace: true });
  };
  const back = () => navigate({ to: "/bots/$slug/soul", params: { slug }, search: placeOf(file) });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Link
        to="/bots/$slug/soul"
        params={{ slug }}
        search={placeOf(file)}
        activeProps={{}}
        className={buttonClass("ghost")}
      >
        <ArrowLeft size={13} aria-hidden /> {nameOf(file)}
      </Link>
      <Select
        label="Compare with"
        className="ml-auto w-52"
        value={other === undefined ? "" : String(other)}
        options={options}
        onChange={compare}
      />
      <Button onClick={() => setAsking(true)}>
        <Undo2 size={13} aria-hidden /> Roll back to this version
      </Button>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Roll back ${nameOf(file)} to version ${number}?`}
        description="It becomes the newest version. The current content is kept in the history."
        action={`Roll back to version ${number}`}
        isBusy={rollback.isPending}
        onConfirm={() =>
          rollback.mutate(number, { onSuccess: () => void back(), onSettled: () => setAsking(false) })
        }
      />
    </div>
  );
}

function About({ version: { number, author, message, created_at, hash } }: { version: FileVersionDetail }) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-dim">
      <span className="font-medium text-ink">Version {number}</span>
      <span>{author}</span>
      <Ago at={created_at} className="mono" />
      <span className="flex items-center">
        <span className="mono">{hash.slice(0, 8)}</span>
        <CopyButton text={hash} label="Copy hash" iconOnly />
      </span>
      {message && <span className="min-w-0 break-words">{message}</span>}
    </p>
  );
}

/** Always from the older to the newer version. */
function Comparison({ slug, file, number, other }: Required<Props> & { other: number }) {
  const [left, right] =
    other === THE_FILE ? [number, null] : [Math.min(number, other), Math.max(number, other)];
  const diff = useQuery(diffQuery(slug, file, left, right));
  if (diff.isPending) return <SkeletonRows rows={8} label="Loading differences" />;
  if (diff.isLoadingError) return <ErrorState error={diff.error} retry={diff.refetch} />;
  return <Diff diff={diff.data} className="min-h-0 flex-1" />;
}
