import { InlineText } from "@/ui/InlineText";
import { toProblem } from "@/ui/problem";

/** What the server refused, inside a form: its message, and what to do about it. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  const { message, hint } = toProblem(error);
  return (
    <div role="alert" className="wash-bad rounded-md border px-2.5 py-1.5 break-words">
      <p className="text-bad">{message}</p>
      {hint && (
        <p className="mt-0.5 text-xs text-dim">
          <InlineText text={hint} />
        </p>
      )}
    </div>
  );
}
