import { lazy, Suspense, useMemo, useRef } from "react";
import type { WorkflowPlace } from "@/api/types";
import type { EditorHandle, EditorMark } from "@/ui/editor/Editor";
import { Problems } from "@/ui/editor/Problems";
import { SkeletonRows } from "@/ui/Skeleton";

const Editor = lazy(() => import("@/ui/editor/Editor").then(({ Editor }) => ({ default: Editor })));

type Props = {
  source: string;
  problems: readonly WorkflowPlace[];
  onChange: (source: string) => void;
};

/** The workflow as YAML. Below it what is wrong: each problem leads to its place. */
export function YamlPane({ source, problems, onChange }: Props) {
  const editor = useRef<EditorHandle>(null);
  const marks = useMemo(() => problems.map(toMark), [problems]);
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2 p-3 max-sm:p-2">
      <div className="min-h-[320px] flex-1 overflow-hidden rounded-md border border-line focus-within:border-accent focus-within:ring-1 focus-within:ring-accent">
        <Suspense fallback={<SkeletonRows rows={8} label="Loading the editor" />}>
          <Editor
            ref={editor}
            label="Workflow as YAML"
            language="yaml"
            text={source}
            marks={marks}
            onChange={onChange}
          />
        </Suspense>
      </div>
      <Problems
        problems={problems}
        goTo={({ line, column }) => editor.current?.goTo(line ?? null, column ?? null)}
      />
    </div>
  );
}

const toMark = ({ line, column, message, is_warning: isWarning }: WorkflowPlace): EditorMark => ({
  line,
  column,
  message,
  isWarning,
});
