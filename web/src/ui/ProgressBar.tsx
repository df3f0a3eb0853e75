import { clsx } from "clsx";
import { FILL, type Tone } from "./tone";

export function ProgressBar({
  done,
  total,
  label,
  tone = "run",
  className,
}: {
  done: number;
  total: number;
  label: string;
  tone?: Tone;
  className?: string;
}) {
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={done}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuetext={`${done} of ${total}`}
      className={clsx("h-1 overflow-hidden rounded-full bg-raised", className)}
    >
      <div
        className={clsx("h-full rounded-full transition-[width] duration-300", FILL[tone])}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}
