import { DRAGGED, STEP_LOOKS, STEP_TYPES } from "../canvas/steps";
import type { StepType } from "../definition/model";

type Props = { add: (type: StepType) => void };

/** The step types: click to add one after the selected step, or drag it onto the canvas. */
export function Palette({ add }: Props) {
  return (
    <nav
      aria-label="Add a step"
      className="flex shrink-0 gap-1 overflow-auto border-line p-1.5 max-lg:border-b lg:w-36 lg:flex-col lg:border-r"
    >
      <h2 className="px-2 py-1 text-xs font-semibold text-dim max-lg:sr-only">Add a step</h2>
      {STEP_TYPES.map((type) => {
        const { icon: Icon, word, meaning } = STEP_LOOKS[type];
        return (
          <button
            key={type}
            type="button"
            title={meaning}
            draggable
            onDragStart={({ dataTransfer }) => {
              dataTransfer.setData(DRAGGED, type);
              dataTransfer.effectAllowed = "copy";
            }}
            onClick={() => add(type)}
            className="flex h-7 shrink-0 items-center gap-2 rounded-md px-2 text-left whitespace-nowrap hover:bg-raised pointer-coarse:h-9"
          >
            <Icon size={14} strokeWidth={1.75} aria-hidden className="text-dim" /> {word}
          </button>
        );
      })}
    </nav>
  );
}
