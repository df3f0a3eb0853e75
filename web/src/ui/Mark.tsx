/** The Forge logo. */
export function Mark({ className = "size-5" }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={className}>
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path d="M9 7h14v4.5H14v3.25h7.5v4.5H14V25H9z" className="fill-bg" />
    </svg>
  );
}
