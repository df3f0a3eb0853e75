import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import type { KeyboardEvent } from "react";
import type { TurnOf } from "@/api/types";
import { useShortcut } from "@/ui/shortcuts";

type Option = TurnOf<"ask_question">["options"][number];
type Props = {
  options: readonly Option[];
  choose: (index: number) => void;
  isBusy: boolean;
  isCompact?: boolean;
};

/** The suggested answers with their reasons. Number keys choose, arrow keys move. */
export function Options({ options, choose, isBusy, isCompact = false }: Props) {
  return (
    <ol aria-label="Answers" onKeyDown={moveFocus} className={isCompact ? "space-y-1.5" : "space-y-2"}>
      {options.map((option, index) => (
        <li key={option.id}>
          <OptionCard
            option={option}
            number={index + 1}
            isBusy={isBusy}
            isCompact={isCompact}
            choose={() => choose(index)}
          />
        </li>
      ))}
    </ol>
  );
}

type CardProps = { option: Option; number: number; isBusy: boolean; isCompact: boolean; choose: () => void };

function OptionCard({ option, number, isBusy, isCompact, choose }: CardProps) {
  useShortcut(String(number), { label: option.label, group: "Answers", enabled: !isBusy }, choose);
  return (
    <button
      type="button"
      aria-disabled={isBusy}
      onClick={() => !isBusy && choose()}
      className={clsx(
        "group flex w-full items-start gap-3 rounded-lg border border-line bg-surface px-3 text-left transition-colors",
        "hover:border-strong hover:bg-raised focus-visible:border-accent aria-disabled:opacity-60",
        isCompact ? "py-1.5" : "py-2.5",
      )}
    >
      <kbd
        aria-hidden
        className="mt-0.5 grid size-5 shrink-0 place-items-center rounded-sm border border-line font-mono text-[10.5px] text-dim group-hover:border-strong pointer-coarse:hidden"
      >
        {number}
      </kbd>
      <span className="min-w-0 flex-1">
        <span className="block font-medium break-words">{option.label}</span>
        <span className="block break-words text-dim">{option.reason}</span>
      </span>
      <ChevronRight
        aria-hidden
        size={15}
        className="mt-0.5 shrink-0 text-faint opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100"
      />
    </button>
  );
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons[(at + step + buttons.length) % buttons.length]?.focus();
  event.preventDefault();
}
