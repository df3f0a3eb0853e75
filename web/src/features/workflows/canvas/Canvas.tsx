import "@xyflow/react/dist/base.css";
import "./canvas.css";
import {
  Background,
  BackgroundVariant,
  type FitViewOptions,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
} from "@xyflow/react";
import { useCallback, useMemo, useRef, useState } from "react";
import { folded } from "../definition/places";
import { stepsIn } from "./boxes";
import type { CanvasView } from "./contract";
import { type BoxNode, edgesOf, nodesOf } from "./drawing";
import { FrameNode } from "./FrameNode";
import { type Fold, FoldContext } from "./folding";
import { LinkEdge } from "./LinkEdge";
import { StepNode } from "./StepNode";
import { STEP_TONE } from "./steps";
import { useDropped } from "./useDropped";
import { useFitted } from "./useFitted";
import { useKeys } from "./useKeys";
import { useLayout } from "./useLayout";
import { useLinking } from "./useLinking";
import { useMoving } from "./useMoving";
import { Zoom } from "./Zoom";

const NODES = { step: StepNode, frame: FrameNode };
const EDGES = { link: LinkEdge };
/** Leave room at the bottom for the zoom buttons. */
const FIT: FitViewOptions = {
  padding: { x: "8%", top: "8%", bottom: "56px" },
  minZoom: 0.3,
  maxZoom: 1,
};
/** From this size on, a minimap is shown in read-only mode too. */
const HARD_TO_SURVEY = 12;
/** From this size on, only visible elements are rendered. */
const MANY = 150;

type Folding = { ids: readonly string[]; isFolded: boolean };

/** The steps of a workflow and their links. Read-only without `onChange`. */
export function Canvas(view: CanvasView) {
  return (
    <ReactFlowProvider>
      <Flow {...view} />
    </ReactFlowProvider>
  );
}

function Flow({ definition: given, marks, mistakes, selected, onSelect, onOpen, onChange }: CanvasView) {
  const box = useRef<HTMLDivElement>(null);
  const isEditable = onChange !== undefined;
  // In read-only mode folding only affects the view.
  const [folds, setFolds] = useState<readonly Folding[]>([]);
  const definition = useMemo(
    () => folds.reduce((so, { ids, isFolded }) => folded(so, ids, isFolded), given),
    [given, folds],
  );
  const layout = useLayout(definition);
  const onMoveStart = useFitted(box, FIT, !isEditable);
  const [known, setKnown] = useState<ReadonlyMap<string, BoxNode>>(new Map());
  const drawn = useMemo(
    () => nodesOf(layout, { marks, mistakes, isEditable }, known),
    [layout, marks, mistakes, isEditable, known],
  );
  const isKnown = drawn.length === known.size && drawn.every((node) => known.get(node.id) === node);
  if (!isKnown) setKnown(new Map(drawn.map((node) => [node.id, node])));
  const edges = useMemo(() => edgesOf(layout), [layout]);
  const change = useCallback((next: typeof definition) => onChange?.(next), [onChange]);
  const keys = useKeys({ box, definition, layout, selected, onSelect, onOpen, onChange });
  const moving = useMoving({ definition, layout, drawn, selected, tabStop: keys.tabStop, onSelect, change });
  const linking = useLinking({ definition, edges, change });
  const dropping = useDropped({ definition, layout, onSelect, onChange });
  const fold = useCallback<Fold>(
    (frame, isFolded) => {
      const ids = frame.kind === "loop" ? [frame.id] : frame.members.flatMap(stepsIn);
      if (onChange) onChange(folded(definition, ids, isFolded));
      else setFolds((before) => [...before, { ids, isFolded }]);
    },
    [definition, onChange],
  );
  return (
    <FoldContext value={fold}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what is focused inside has its roles */}
      <div
        ref={box}
        tabIndex={-1}
        className="canvas relative h-full min-h-0 outline-none"
        onKeyDown={(event) => {
          if (!linking.onKeyDown(event)) keys.onKeyDown(event);
        }}
        onFocus={keys.onFocus}
        {...dropping}
      >
        <ReactFlow
          aria-label={`Steps of ${definition.name}`}
          nodes={moving.nodes}
          edges={linking.edges}
          nodeTypes={NODES}
          edgeTypes={EDGES}
          onNodesChange={moving.onNodesChange}
          onNodeDragStop={moving.onDragStop}
          onSelectionDragStop={moving.onDragStop}
          onEdgesChange={linking.onEdgesChange}
          onConnect={linking.onConnect}
          onConnectEnd={linking.onConnectEnd}
          isValidConnection={linking.isValid}
          onNodeDoubleClick={(_, node) => node.data.box.step && onOpen?.(node.id)}
          onPaneClick={() => onSelect([])}
          onMoveStart={onMoveStart}
          nodesFocusable={false}
          edgesFocusable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          nodesConnectable={isEditable}
          elementsSelectable
          elevateNodesOnSelect={false}
          onlyRenderVisibleElements={drawn.length > MANY}
          minZoom={0.1}
          maxZoom={1.75}
          zoomOnDoubleClick={false}
          fitView
          fitViewOptions={FIT}
          attributionPosition="top-right"
        >
          <Background variant={BackgroundVariant.Dots} gap={18} size={1.5} />
          {(isEditable || drawn.length > HARD_TO_SURVEY) && (
            <MiniMap<BoxNode>
              pannable
              zoomable
              ariaLabel={null}
              className="max-sm:hidden"
              style={{ width: 150, height: 96, margin: 10 }}
              nodeColor={colorOf}
            />
          )}
          <Zoom fit={FIT} />
        </ReactFlow>
      </div>
    </FoldContext>
  );
}

function colorOf({ data: { mark, box } }: BoxNode): string {
  if (mark) return `var(--${TONES[STEP_TONE[mark.status]]})`;
  return box.kind === "step" || box.isFolded ? "var(--strong)" : "var(--raised)";
}

const TONES = { run: "run", ok: "ok-fill", wait: "wait-fill", bad: "bad", idle: "strong" } as const;
