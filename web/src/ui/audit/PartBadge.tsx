/** Marks a partial audit. */
export function PartBadge({ part }: { part: string }) {
  return (
    <span className="mono max-w-full shrink-0 truncate rounded-sm border border-line px-1.5 text-dim">
      {part}
    </span>
  );
}
