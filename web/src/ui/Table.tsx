import { clsx } from "clsx";
import type { ComponentProps, ReactNode } from "react";

/** The smallest screen that shows a column. */
type From = "sm" | "md";
const SHOWN: Record<From, string> = { sm: "max-sm:hidden", md: "max-md:hidden" };

/** `isUnnamed`: the name is for screen readers only, as for a column of buttons. */
export type Column = { name: string; from?: From; isUnnamed?: boolean };

export function Table({
  label,
  columns,
  children,
}: {
  label: string;
  columns: readonly Column[];
  children: ReactNode;
}) {
  return (
    <div className="overflow-x-auto">
      <table aria-label={label} className="w-full text-left">
        <thead>
          <tr className="border-b border-line text-xs text-dim">
            {columns.map(({ name, from, isUnnamed }) => (
              <th
                key={name}
                scope="col"
                className={clsx("h-8 px-3 font-medium whitespace-nowrap", from && SHOWN[from])}
              >
                {isUnnamed ? <span className="sr-only">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">{children}</tbody>
      </table>
    </div>
  );
}

export function Row({ className, ...rest }: ComponentProps<"tr">) {
  return <tr className={clsx("h-9 hover:bg-raised/50", className)} {...rest} />;
}

export function Cell({ className, from, ...rest }: ComponentProps<"td"> & { from?: From }) {
  return <td className={clsx("px-3 whitespace-nowrap", from && SHOWN[from], className)} {...rest} />;
}
