import { clsx } from "clsx";
import type { Interview, InterviewPhase } from "@/api/types";
import { PHASES, phaseName } from "../words";

type Props = { session: Interview; back: (phase: InterviewPhase) => void; isBusy: boolean };

/** The phases, with links back to those already reached. */
export function Steps({ session: { mode, phase, back_to }, back, isBusy }: Props) {
  const at = PHASES.indexOf(phase);
  return (
    <nav aria-label="Steps">
      <ol className="grid grid-cols-5 gap-1.5">
        {PHASES.map((one, index) => {
          const name = phaseName(mode, one);
          const isOpen = back_to.includes(one) && !isBusy;
          const look = clsx(
            "flex w-full flex-col gap-1.5 rounded-sm text-left text-xs",
            index === at ? "font-medium text-ink" : "text-dim",
            isOpen && "hover:text-ink",
          );
          const bar = (
            <span
              aria-hidden
              className={clsx(
                "h-1 rounded-full",
                index <= at ? "bg-accent" : "bg-line",
                index < at && "opacity-60",
              )}
            />
          );
          const label = <span className={clsx("truncate", index !== at && "max-sm:sr-only")}>{name}</span>;
          return (
            <li
              key={one}
              aria-current={index === at ? "step" : undefined}
              className={index === at ? "max-sm:min-w-max" : ""}
            >
              {isOpen ? (
                <button
                  type="button"
                  aria-label={`Back to ${name}`}
                  onClick={() => back(one)}
                  className={look}
                >
                  {bar} {label}
                </button>
              ) : (
                <span className={look}>
                  {bar} {label}
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
