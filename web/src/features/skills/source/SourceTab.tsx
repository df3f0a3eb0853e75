import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronDown, ChevronRight, File, FileQuestion } from "lucide-react";
import { useState } from "react";
import { skillFileQuery, skillQuery } from "@/api/skills";
import type { SkillDetail, SkillFile } from "@/api/types";
import { formatBytes } from "@/ui/bytes";
import { Code } from "@/ui/Code";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { SkeletonRows } from "@/ui/Skeleton";
import { type Branch, languageOfFile, nameOf, treeOf } from "./tree";

const route = getRouteApi("/shell/skills/$name/source");

/** The source files of a skill. */
export function SourceTab() {
  const { name } = route.useParams();
  const { file } = route.useSearch();
  const { data: skill } = useSuspenseQuery(skillQuery(name));
  const root = treeOf(skill.files);
  const shown = file ?? root.files[0]?.path ?? skill.files[0]?.path;
  return (
    <div className="grid grid-cols-1 gap-3 p-3 max-sm:p-2 lg:h-full lg:grid-cols-[minmax(220px,1fr)_minmax(0,3fr)]">
      <nav
        aria-label="Files"
        className="min-h-0 overflow-auto rounded-lg border border-line bg-surface py-1 max-lg:max-h-[40dvh]"
      >
        <Files branch={root} depth={0} name={name} shown={shown} />
      </nav>
      <section aria-label="File" className="min-h-0 min-w-0 overflow-auto">
        {shown === undefined ? (
          <EmptyState title="No files" sentence="The folder is empty." />
        ) : (
          <FileView key={shown} skill={skill} path={shown} />
        )}
      </section>
    </div>
  );
}

const STEP_PX = 14;
const ROW =
  "flex h-7 w-full items-center gap-1.5 pr-3 text-left -outline-offset-2 hover:bg-raised/60 pointer-coarse:h-9";

type FilesProps = { branch: Branch; depth: number; name: string; shown: string | undefined };

function Files({ branch, ...shared }: FilesProps) {
  const files = branch.files.map((file) => <Leaf key={file.path} file={file} {...shared} />);
  const folders = branch.branches.map((one) => <Folder key={one.path} branch={one} {...shared} />);
  return <ul>{shared.depth === 0 ? [...files, ...folders] : [...folders, ...files]}</ul>;
}

function Folder({ branch, depth, ...shared }: FilesProps) {
  const [isOpen, setOpen] = useState(true);
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        style={{ paddingLeft: 8 + depth * STEP_PX }}
        className={ROW}
      >
        <Icon size={13} aria-hidden className="shrink-0 text-faint" />
        <span className="truncate">{branch.name}</span>
      </button>
      {isOpen && <Files branch={branch} depth={depth + 1} {...shared} />}
    </li>
  );
}

type LeafProps = Omit<FilesProps, "branch"> & { file: SkillFile };

function Leaf({ file, depth, name, shown }: LeafProps) {
  const Icon = file.is_text ? File : FileQuestion;
  const isShown = file.path === shown;
  return (
    <li>
      <Link
        to="/skills/$name/source"
        params={{ name }}
        search={{ file: file.path }}
        aria-current={isShown ? "page" : undefined}
        style={{ paddingLeft: 10 + depth * STEP_PX }}
        className={clsx(ROW, isShown ? "bg-raised text-ink" : "text-dim hover:text-ink")}
      >
        <Icon size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
        <span className="truncate">{nameOf(file.path)}</span>
        <span className="mono ml-auto shrink-0 text-faint">{formatBytes(file.bytes)}</span>
      </Link>
    </li>
  );
}

function FileView({ skill, path }: { skill: SkillDetail; path: string }) {
  const known = skill.files.find((file) => file.path === path);
  const file = useQuery({
    ...skillFileQuery(skill.name, path, skill.folder_hash),
    enabled: known?.is_text !== false,
  });
  if (known && !known.is_text) {
    return (
      <EmptyState
        title={nameOf(path)}
        sentence={`Binary file, ${formatBytes(known.bytes)}. Export the skill to view it.`}
      />
    );
  }
  if (file.isPending) return <SkeletonRows rows={8} label="Loading file" />;
  if (file.isLoadingError) return <ErrorState error={file.error} retry={file.refetch} />;
  const text = file.data?.text ?? null;
  if (text === null) return <EmptyState title={nameOf(path)} sentence="This file is not text." />;
  if (text === "") return <EmptyState title={nameOf(path)} sentence="This file is empty." />;
  return (
    <>
      <h2 className="mono mb-1.5 px-0.5 break-all text-dim">{path}</h2>
      <Code text={text} language={languageOfFile(path)} isWrapped={/\.(md|txt)$/.test(path)} />
    </>
  );
}
