import { useRef } from "react";
import type { WorkflowPlace } from "@/api/types";
import type { EditorHandle } from "@/ui/editor/Editor";
import { EditorPane } from "@/ui/editor/EditorPane";
import { Problems } from "@/ui/editor/Problems";

type Props = {
  source: string;
  problems: readonly WorkflowPlace[];
  onChange: (source: string) => void;
};

/** The YAML editor. Problems link to their line. */
export function YamlPane({ source, problems, onChange }: Props) {
  const editor = useRef<EditorHandle>(null);
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2 p-3 max-sm:p-2">
      <EditorPane
        ref={editor}
        label="Workflow as YAML"
        language="yaml"
        text={source}
        marks={problems}
        onChange={onChange}
      />
      <Problems problems={problems} goTo={({ line, column }) => editor.current?.goTo(line, column)} />
    </div>
  );
}
