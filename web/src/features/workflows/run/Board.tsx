import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useState } from "react";
import type { WorkflowRunDetail } from "@/api/types";
import { Drawer } from "@/ui/Drawer";
import { LogView } from "@/ui/LogView";
import { Panel } from "@/ui/Panel";
import { Segmented } from "@/ui/Segmented";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { useMedia } from "@/ui/useMedia";
import { asDefinition } from "../definition/model";
import type { RunView } from "./fold";
import { keyOf, marksOf } from "./marks";
import { rowsOf } from "./rows";
import { StepPanel } from "./StepPanel";
import { StepTree } from "./StepTree";
import { Summary } from "./Summary";
import { Timeline } from "./Timeline";

const Canvas = lazy(() => import("../canvas/Canvas").then(({ Canvas }) => ({ default: Canvas })));

const VIEWS = [
  { value: "canvas", label: "Canvas" },
  { value: "timeline", label: "Timeline" },
  { value: "log", label: "Log" },
] as const;
type Shown = (typeof VIEWS)[number]["value"];
const WIDE = "(min-width: 1024px)";

type Props = { run: WorkflowRunDetail; view: RunView; isLoading: boolean };

/** The steps as list, canvas, timeline or log, beside the details of the selected one. */
export function Board({ run, view: latest, isLoading }: Props) {
  // Thousands of steps can change within seconds, so user input has priority over rendering them.
  const view = useDeferredValue(latest);
  const definition = asDefinition(run.definition);
  const isWide = useMedia(WIDE);
  const [shown, setShown] = useState<Shown>("canvas");
  const [chosen, setSelected] = useState<string | null | undefined>();
  // The failed step is selected by default.
  const selected = chosen === undefined ? failedOf(view, isWide) : chosen;
  const [turned, turn] = useTurned();
  const rows = useMemo(
    () => rowsOf(definition, view.steps, { turned, selected }),
    [definition, view.steps, turned, selected],
  );
  const marks = useMemo(() => marksOf(view.steps), [view.steps]);
  const selectedId = selected?.split("/").at(-1);
  useShortcut("v", { label: "Canvas, timeline or log", group: "Run" }, () =>
    setShown(
      (now) => VIEWS[(VIEWS.findIndex(({ value }) => value === now) + 1) % VIEWS.length]?.value ?? now,
    ),
  );

  const detail =
    selected === null ? (
      <Summary run={run} view={view} />
    ) : (
      <StepPanel run={run} steps={view.steps} stepKey={selected} select={setSelected} />
    );
  return (
    <div className="grid min-h-0 flex-1 gap-3 lg:grid-cols-[230px_minmax(0,1fr)_310px] xl:grid-cols-[270px_minmax(0,1fr)_380px] lg:grid-rows-[minmax(320px,1fr)]">
      {shown === "canvas" && (
        <Panel title="Steps" count={definition.steps.length} className="min-h-0 max-lg:max-h-72">
          {isLoading && view.steps.size === 0 ? (
            <SkeletonRows rows={6} label="Loading steps" />
          ) : (
            <StepTree rows={rows} selected={selected} select={setSelected} turn={turn} />
          )}
        </Panel>
      )}
      <section
        aria-label="Views"
        className="flex min-h-0 flex-col overflow-hidden rounded-lg border border-line bg-surface max-lg:h-[60dvh] max-lg:min-h-96 lg:not-data-[view=canvas]:col-span-2"
        data-view={shown}
      >
        <div className="flex shrink-0 items-center border-b border-line p-1.5">
          <Segmented label="Show" value={shown} options={VIEWS} onChange={setShown} />
        </div>
        {shown === "canvas" && (
          <div className="min-h-0 flex-1">
            <Suspense fallback={<SkeletonRows rows={6} label="Loading canvas" />}>
              <Canvas
                definition={definition}
                marks={marks}
                selected={selectedId ? [selectedId] : []}
                onSelect={([id]) => setSelected(id === undefined ? null : keyOf(view.steps, id))}
                onOpen={(id) => setSelected(keyOf(view.steps, id))}
              />
            </Suspense>
          </div>
        )}
        {shown === "timeline" && (
          <Timeline rows={rows} view={view} selected={selected} select={setSelected} turn={turn} />
        )}
        {shown === "log" && <LogView lines={view.log} label="Run log" sourceClass="w-44" />}
      </section>
      {isWide && <div className="min-h-0 min-w-0 overflow-auto">{detail}</div>}
      {!isWide &&
        (selected === null ? (
          detail
        ) : (
          <Drawer close={() => setSelected(null)} title="Step" isHeld={false}>
            {detail}
          </Drawer>
        ))}
    </div>
  );
}

function failedOf(view: RunView, isWide: boolean): string | null {
  if (!isWide || view.error === null) return null;
  return [...view.steps.values()].findLast(({ status }) => status === "failed")?.key ?? null;
}

/** The rows folded or unfolded by the person. */
function useTurned(): [ReadonlySet<string>, (id: string) => void] {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const turn = useCallback(
    (id: string) =>
      setTurned((before) =>
        before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set(before).add(id),
      ),
    [],
  );
  return [turned, turn];
}
