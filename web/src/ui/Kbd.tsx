import { clsx } from "clsx";
import { keyNames } from "./keys";

/**
 * The keys of a shortcut as key caps: `mod+k`, `g h`, `?`. Beside a control they are decorative and hidden on small
 * screens; in the list of shortcuts they are always shown and read out.
 */
export function Kbd({ keys, isSpoken = false }: { keys: string; isSpoken?: boolean }) {
  return (
    <span
      aria-hidden={!isSpoken}
      className={clsx(
        "inline-flex shrink-0 items-center gap-0.5 align-middle",
        !isSpoken && "max-sm:hidden pointer-coarse:hidden",
      )}
    >
      {keyNames(keys).map((name) => (
        <kbd
          key={name}
          className="min-w-[18px] rounded-sm border border-current/20 px-1 text-center font-mono text-[10.5px] leading-4"
        >
          {name}
        </kbd>
      ))}
    </span>
  );
}
