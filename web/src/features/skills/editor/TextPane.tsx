import { useRef } from "react";
import type { SkillProblem } from "@/api/types";
import type { EditorHandle } from "@/ui/editor/Editor";
import { EditorPane } from "@/ui/editor/EditorPane";
import { Problems } from "@/ui/editor/Problems";
import { languageOf, MAIN } from "./draft";
import type { Validation } from "./useValidation";

type Props = {
  path: string;
  text: string;
  startLine: number | undefined;
  validation: Validation;
  open: (path: string, line?: number) => void;
  onChange: (text: string) => void;
};

const NONE: readonly SkillProblem[] = [];

/** The editor of one file. Problems link to their line in `SKILL.md`. */
export function TextPane({ path, text, startLine, validation, open, onChange }: Props) {
  const editor = useRef<EditorHandle>(null);
  return (
    <section aria-label={path} className="flex min-h-0 min-w-0 flex-1 flex-col gap-2">
      <EditorPane
        ref={editor}
        label={`Text of ${path}`}
        language={languageOf(path)}
        text={text}
        marks={path === MAIN ? validation.inMain : NONE}
        startLine={startLine}
        onChange={onChange}
      />
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
