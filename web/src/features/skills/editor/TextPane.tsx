import { lazy, Suspense, useRef } from "react";
import type { EditorHandle, EditorMark } from "@/ui/editor/Editor";
import { Problems } from "@/ui/editor/Problems";
import { SkeletonRows } from "@/ui/Skeleton";
import { languageOf, MAIN } from "./draft";
import type { Validation } from "./useValidation";

const Editor = lazy(() => import("@/ui/editor/Editor").then(({ Editor }) => ({ default: Editor })));

type Props = {
  path: string;
  text: string;
  startLine: number | undefined;
  validation: Validation;
  open: (path: string, line?: number) => void;
  onChange: (text: string) => void;
};

const NO_MARKS: readonly EditorMark[] = [];

/** One file to write in. Below it what is wrong with the skill: each problem leads to its line of `SKILL.md`. */
export function TextPane({ path, text, startLine, validation, open, onChange }: Props) {
  const editor = useRef<EditorHandle>(null);
  return (
    <section aria-label={path} className="flex min-h-0 min-w-0 flex-1 flex-col gap-2">
      <div className="min-h-[320px] flex-1 overflow-hidden rounded-md border border-line focus-within:border-accent focus-within:ring-1 focus-within:ring-accent max-lg:h-[60dvh] max-lg:flex-none">
        <Suspense fallback={<SkeletonRows rows={8} label="Loading the editor" />}>
          <Editor
            ref={editor}
            label={`Text of ${path}`}
            language={languageOf(path)}
            text={text}
            marks={path === MAIN ? validation.marks : NO_MARKS}
            startLine={startLine}
            onChange={onChange}
          />
        </Suspense>
      </div>
      <Problems
        problems={validation.problems}
        goTo={({ line }) => {
          if (path === MAIN) editor.current?.goTo(line ?? null, null);
          else open(MAIN, line ?? 1);
        }}
      />
    </section>
  );
}
