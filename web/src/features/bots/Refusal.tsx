import { CopyButton } from "@/ui/CopyButton";
import { InlineText } from "@/ui/InlineText";
import { toProblem } from "@/ui/problem";

/** Why the server would not, beside the form it is about. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  const { message, hint, details } = toProblem(error);
  return (
    <div role="alert" className="flex items-start gap-2 text-bad">
      <p className="min-w-0 flex-1 break-words">
        <InlineText text={message} /> {hint && <InlineText text={hint} />}
      </p>
      <CopyButton text={details} label="Copy details" iconOnly />
    </div>
  );
}
