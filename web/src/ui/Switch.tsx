import { clsx } from "clsx";

type Props = { label: string; isOn: boolean; onChange: (isOn: boolean) => void; disabled?: boolean };

/** A switch with a visible word, since a position alone is ambiguous. */
export function Switch({ label, isOn, onChange, disabled = false }: Props) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!isOn)}
      className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md px-1 text-xs text-dim hover:text-ink pointer-coarse:h-9"
    >
      <span
        aria-hidden
        className={clsx(
          "relative h-4 w-7 rounded-full border transition-colors",
          isOn ? "border-transparent bg-ink" : "border-strong bg-raised",
        )}
      >
        <span
          className={clsx(
            "absolute top-[2px] size-2.5 rounded-full transition-[left]",
            isOn ? "left-[14px] bg-bg" : "left-[2px] bg-faint",
          )}
        />
      </span>
      <span aria-hidden className="w-5 text-left">
        {isOn ? "on" : "off"}
      </span>
    </button>
  );
}
