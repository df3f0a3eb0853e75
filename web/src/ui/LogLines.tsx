import { clsx } from "clsx";
import { INK, type Tone } from "./tone";

const LOUD: Partial<Record<string, Tone>> = { warn: "wait", warning: "wait", error: "bad" };

/** The color of a log level. */
export const toneOf = (level: string): Tone => LOUD[level] ?? "idle";

type Props = { label: string; lines: readonly { level: string; text: string }[] };

/** A short log. */
export function LogLines({ label, lines }: Props) {
  return (
    <ol
      tabIndex={0}
      aria-label={label}
      className="mono max-h-96 overflow-auto rounded-md border border-line bg-bg py-1"
    >
      {lines.map(({ level, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added
        <li key={at} className="flex gap-3 px-2.5 leading-[18px]">
          <span className={clsx("w-10 shrink-0", INK[toneOf(level)])}>{level}</span>
          <span className="min-w-0 break-words whitespace-pre-wrap">{text}</span>
        </li>
      ))}
    </ol>
  );
}
