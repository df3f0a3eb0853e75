import { Badge } from "./Badge";
import { sandboxWords } from "./sandbox";

/** The isolation level of a command. Only weak levels stand out. */
export function SandboxBadge({ level }: { level: string }) {
  const { word, meaning, tone } = sandboxWords(level);
  if (tone === "ok" || tone === "idle") {
    return (
      <span
        title={meaning}
        className="shrink-0 rounded-full border border-line px-2 text-xs leading-[18px] text-dim"
      >
        {word}
      </span>
    );
  }
  return (
    <span title={meaning} className="inline-flex shrink-0">
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}
