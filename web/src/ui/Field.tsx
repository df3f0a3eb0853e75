import { clsx } from "clsx";
import { type ComponentProps, type ReactNode, useId } from "react";

const INPUT =
  "w-full rounded-md border bg-bg px-2 text-sm text-ink placeholder:text-faint pointer-coarse:text-base disabled:opacity-60";

type Shared = { label: ReactNode; hint?: ReactNode; error?: string | null | undefined; mono?: boolean };
type InputProps = ComponentProps<"input"> & Shared & { /** A button on the same line. */ action?: ReactNode };

/** A labeled text input with a hint, or an error in place of the hint. */
export function Field({ label, hint, error, mono, action, className, ...rest }: InputProps) {
  const id = useId();
  return (
    <FieldFrame id={id} label={label} hint={hint} error={error} className={className}>
      <div className="flex gap-2">
        <input
          id={id}
          aria-invalid={Boolean(error)}
          aria-describedby={hint || error ? `${id}-note` : undefined}
          className={clsx(
            INPUT,
            "h-8 pointer-coarse:h-10",
            mono && "mono",
            error ? "border-bad" : "border-line",
          )}
          {...rest}
        />
        {action}
      </div>
    </FieldFrame>
  );
}

export function TextArea({
  label,
  hint,
  error,
  mono,
  className,
  ...rest
}: ComponentProps<"textarea"> & Shared) {
  const id = useId();
  return (
    <FieldFrame id={id} label={label} hint={hint} error={error} className={className}>
      <textarea
        id={id}
        aria-invalid={Boolean(error)}
        aria-describedby={hint || error ? `${id}-note` : undefined}
        className={clsx(INPUT, "block py-1.5", mono && "mono", error ? "border-bad" : "border-line")}
        {...rest}
      />
    </FieldFrame>
  );
}

function FieldFrame({
  id,
  label,
  hint,
  error,
  className,
  children,
}: Shared & { id: string; className?: string | undefined; children: ReactNode }) {
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-dim">
        {label}
      </label>
      {children}
      {(error || hint) && (
        <p id={`${id}-note`} className={clsx("mt-1 text-xs", error ? "text-bad" : "text-dim")}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}
