import { Copy, LayoutTemplate, Redo2, Settings2, Trash2, Undo2 } from "lucide-react";
import { IconButton } from "@/ui/Button";
import { withKeys } from "@/ui/keys";
import { useShortcut } from "@/ui/shortcuts";
import type { Definition } from "../definition/model";
import { isPlaced, unplaced } from "../definition/places";
import { duplicated, removed } from "../definition/steps";
import type { Change } from "./forms/form";

type Props = {
  definition: Definition;
  /** The IDs of the selected steps. */
  ids: readonly string[];
  change: Change;
  select: (ids: readonly string[]) => void;
  history: { canUndo: boolean; canRedo: boolean; undo: () => void; redo: () => void };
  settings: { isOpen: boolean; open: () => void };
};

/** The toolbar of the canvas; every action has a shortcut too. */
export function Toolbar({ definition, ids, change, select, history, settings }: Props) {
  const { canUndo, canRedo, undo, redo } = history;
  useShortcut("mod+z", { label: "Undo", group: "Workflow" }, undo);
  useShortcut("mod+y", { label: "Redo", group: "Workflow" }, redo);
  useShortcut("mod+shift+z", { label: "Redo", group: "Workflow" }, redo);
  return (
    <div
      role="toolbar"
      aria-label="Canvas"
      className="flex shrink-0 items-center gap-0.5 border-b border-line p-1"
    >
      <IconButton label={withKeys("Undo", "mod+z")} disabled={!canUndo} onClick={undo} className="hint-start">
        <Undo2 size={14} aria-hidden />
      </IconButton>
      <IconButton label={withKeys("Redo", "mod+y")} disabled={!canRedo} onClick={redo} className="hint-start">
        <Redo2 size={14} aria-hidden />
      </IconButton>
      <span aria-hidden className="mx-1 h-4 border-l border-line" />
      <IconButton
        label="Arrange automatically"
        className="hint-start"
        disabled={!isPlaced(definition)}
        onClick={() => change(unplaced(definition))}
      >
        <LayoutTemplate size={14} aria-hidden />
      </IconButton>
      <IconButton
        label={withKeys("Duplicate", "mod+d")}
        className="hint-start"
        disabled={ids.length === 0}
        onClick={() => {
          const copied = duplicated(definition, ids);
          change(copied.definition);
          select(copied.ids);
        }}
      >
        <Copy size={14} aria-hidden />
      </IconButton>
      <IconButton
        label="Remove (Del)"
        className="hint-start"
        disabled={ids.length === 0}
        onClick={() => {
          select([]);
          change(removed(definition, ids));
        }}
      >
        <Trash2 size={14} aria-hidden />
      </IconButton>
      <IconButton
        label="Workflow settings"
        aria-expanded={settings.isOpen}
        className="ml-auto"
        onClick={settings.open}
      >
        <Settings2 size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
