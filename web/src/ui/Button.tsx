import { clsx } from "clsx";
import type { ComponentProps } from "react";

const LOOKS = {
  primary: "bg-ink text-bg hover:opacity-90",
  plain: "border border-line bg-surface hover:border-strong hover:bg-raised",
  ghost: "text-dim hover:bg-raised hover:text-ink",
  danger: "border border-line bg-surface text-bad hover:border-bad/50 hover:bg-bad/10",
} as const;

export type ButtonLook = keyof typeof LOOKS;

/** The classes of a button, for links that look like one. */
export function buttonClass(look: ButtonLook = "plain", className?: string): string {
  return clsx(
    "inline-flex h-7 shrink-0 items-center justify-center gap-1.5 rounded-md px-2.5 text-sm font-medium whitespace-nowrap",
    "transition-colors disabled:opacity-50 pointer-coarse:h-9",
    LOOKS[look],
    className,
  );
}

export function Button({ look, className, ...rest }: ComponentProps<"button"> & { look?: ButtonLook }) {
  return <button type="button" className={buttonClass(look, className)} {...rest} />;
}

/** An icon button; `label` is its accessible name and its tooltip. */
export function IconButton({
  label,
  hintAbove = false,
  className,
  ...rest
}: ComponentProps<"button"> & { label: string; hintAbove?: boolean }) {
  return (
    <button
      type="button"
      aria-label={label}
      className={clsx(
        "hint inline-grid size-7 shrink-0 place-items-center rounded-md text-dim pointer-coarse:size-9",
        "transition-colors hover:bg-raised hover:text-ink disabled:opacity-50",
        hintAbove && "hint-up",
        className,
      )}
      {...rest}
    />
  );
}
