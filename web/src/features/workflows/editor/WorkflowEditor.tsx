import { FlaskConical, Save } from "lucide-react";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import type { WorkflowPlace } from "@/api/types";
import { AskBeforeLeaving } from "@/ui/AskBeforeLeaving";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { useMedia } from "@/ui/useMedia";
import { boxesOf, stepsAmong } from "../canvas/boxes";
import type { Definition, StepType } from "../definition/model";
import { added } from "../definition/steps";
import { CRUMBS } from "../words";
import { Palette } from "./Palette";
import { ProblemList } from "./ProblemList";
import { Side, type SideView } from "./Side";
import { Toolbar } from "./Toolbar";
import { type Mode, useMode } from "./useMode";
import { type Read, useReading } from "./useReading";
import { useTrial } from "./useTrial";
import type { Writing } from "./useWriting";
import { YamlPane } from "./YamlPane";

const Canvas = lazy(() => import("../canvas/Canvas").then(({ Canvas }) => ({ default: Canvas })));

type Props = {
  name: string;
  /** The page of the workflow; omit for a new one. */
  home?: string;
  writing: Writing;
  saving: { isDirty: boolean; isPending: boolean; error: unknown; save: () => void };
  /** The ID of the saved workflow; null for a new one. */
  reference: string | null;
  first?: Mode;
  actions?: ReactNode;
  notice?: ReactNode;
  /** Leaving would lose nothing although it is not saved. */
  mayLeave?: boolean;
};

const MODES = [
  { value: "canvas", label: "Canvas" },
  { value: "yaml", label: "YAML" },
] as const;

/** The workflow editor with its canvas and YAML modes. */
export function WorkflowEditor(props: Props) {
  const {
    name,
    home,
    writing,
    saving,
    reference,
    first = "canvas",
    actions,
    notice,
    mayLeave = false,
  } = props;
  const { draft } = writing;
  const { mode, isPending, show, asking } = useMode(writing, first);
  const [side, setSide] = useState<SideView>("settings");
  const read = useReading(draft);
  const { isDirty, save } = saving;
  const isWide = useMedia("(min-width: 640px)");
  const modes = <Segmented label="Shown as" value={mode} options={MODES} onChange={show} />;
  const mayBeSaved = isDirty && !saving.isPending;
  useShortcut("mod+s", { label: "Save workflow", group: "Workflow" }, () => {
    if (mayBeSaved) save();
  });
  return (
    <Page
      {...(home ? { title: `Edit ${name}`, titleTo: home } : { title: name })}
      crumbs={CRUMBS}
      state={
        <span role="status" className="text-xs whitespace-nowrap text-dim max-sm:sr-only">
          {isDirty ? "not saved" : "saved"}
        </span>
      }
      actions={
        <>
          {isWide && modes}
          {reference !== null && mode === "canvas" && (
            <Button
              aria-expanded={side === "trial"}
              onClick={() => setSide(side === "trial" ? null : "trial")}
            >
              <FlaskConical size={13} aria-hidden /> <span className="max-sm:sr-only">Dry run</span>
            </Button>
          )}
          {actions}
          <Button look="primary" disabled={!mayBeSaved} onClick={save}>
            <Save size={13} aria-hidden /> <span className="max-sm:sr-only">Save</span> <Kbd keys="mod+s" />
          </Button>
        </>
      }
    >
      <div aria-busy={isPending} className="flex min-h-full flex-col lg:h-full">
        {!isWide && <div className="border-b border-line px-2 py-1.5">{modes}</div>}
        {notice}
        {Boolean(saving.error ?? read.error) && (
          <div className="p-2">
            <Refusal error={saving.error ?? read.error} />
          </div>
        )}
        {mode === "canvas" && draft.definition ? (
          <Drawing
            definition={draft.definition}
            writing={writing}
            read={read}
            reference={reference}
            side={side}
            setSide={setSide}
          />
        ) : (
          <YamlPane source={draft.source} problems={read.problems} onChange={writing.type} />
        )}
      </div>
      <AskBeforeLeaving when={isDirty && !mayLeave} what={`Unsaved changes in ${name}`} />
      {asking && (
        <Confirm
          open
          onOpenChange={asking.stay}
          title="Show it as YAML without its comments?"
          description="Some steps are incomplete, so YAML comments cannot be kept. Fix the problems listed below the canvas to keep them."
          action="Show without comments"
          onConfirm={asking.goOn}
        />
      )}
    </Page>
  );
}

type DrawingProps = {
  definition: Definition;
  writing: Writing;
  read: Read;
  reference: string | null;
  side: SideView;
  setSide: (side: SideView) => void;
};

function Drawing({ definition, writing, read, reference, side, setSide }: DrawingProps) {
  const [selected, setSelected] = useState<readonly string[]>([]);
  const trial = useTrial(reference, definition);
  const ids = useMemo(() => stepsAmong(boxesOf(definition), selected), [definition, selected]);
  const select = (next: readonly string[]) => {
    setSelected(next);
    if (next.length > 0 && side === "trial") setSide(null);
  };
  const add = (type: StepType) => {
    const made = added(definition, type, placeFor(definition, selected));
    writing.draw(made.definition);
    select([made.id]);
  };
  const open = ({ step, path }: WorkflowPlace) => {
    select(step && definition.steps.some(({ id }) => id === step) ? [step] : []);
    if (!step || path === "") setSide("settings");
    focusPanel();
  };
  return (
    <div className="flex min-h-0 flex-1 max-lg:flex-col">
      <Palette add={add} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Toolbar
          definition={definition}
          ids={ids}
          change={writing.draw}
          select={select}
          history={writing}
          settings={{
            isOpen: side === "settings",
            open: () => {
              setSelected([]);
              setSide("settings");
            },
          }}
        />
        <div className="min-h-0 flex-1 max-lg:h-[55dvh] max-lg:flex-none">
          <Suspense fallback={<SkeletonRows rows={8} label="Loading canvas" />}>
            <Canvas
              definition={definition}
              marks={side === "trial" ? trial.marks : undefined}
              mistakes={read.mistakes}
              selected={selected}
              onSelect={select}
              onOpen={focusPanel}
              onChange={writing.draw}
            />
          </Suspense>
        </div>
        <ProblemList problems={read.problems} open={open} />
      </div>
      <Side
        definition={definition}
        selected={selected}
        ids={ids}
        view={side}
        problems={read.problems}
        trial={trial}
        change={writing.draw}
        select={select}
        close={() => setSide(null)}
      />
    </div>
  );
}

/** After the selected or the last step; inside a selected empty loop. */
function placeFor({ steps }: Definition, selected: readonly string[]) {
  const one = selected.length === 1 && steps.find(({ id }) => id === selected[0]);
  if (one && one.config.type === "loop" && one.config.body_steps.length === 0) return { inside: one.id };
  return { after: one ? one.id : (steps.at(-1)?.id ?? null) };
}

/** Focus the panel that is about to be shown. */
function focusPanel(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-panel]")?.focus());
}
