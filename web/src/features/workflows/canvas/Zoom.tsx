import { type FitViewOptions, Panel, useReactFlow } from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { IconButton } from "@/ui/Button";

/** Zoom in, zoom out, fit. */
export function Zoom({ fit }: { fit: FitViewOptions }) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  return (
    <Panel
      position="bottom-left"
      className="m-2.5! flex rounded-md border border-line bg-surface *:not-first:border-l *:not-first:border-line"
    >
      <IconButton hintAbove label="Zoom out" className="rounded-r-none" onClick={() => void zoomOut()}>
        <Minus size={14} aria-hidden />
      </IconButton>
      <IconButton hintAbove label="Zoom in" className="rounded-none" onClick={() => void zoomIn()}>
        <Plus size={14} aria-hidden />
      </IconButton>
      <IconButton hintAbove label="Fit to view" className="rounded-l-none" onClick={() => void fitView(fit)}>
        <Maximize size={14} aria-hidden />
      </IconButton>
    </Panel>
  );
}
