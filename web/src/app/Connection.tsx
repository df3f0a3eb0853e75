import type { LiveStatus } from "@/api/live";
import { useLiveStatus } from "@/api/liveContext";
import { Dot } from "@/ui/Badge";
import type { Tone } from "@/ui/tone";

const SHOWN: Record<LiveStatus, { tone: Tone; word: string; meaning: string }> = {
  connecting: { tone: "idle", word: "Connecting", meaning: "Connecting to Forge." },
  live: { tone: "ok", word: "Live", meaning: "This page updates automatically." },
  reconnecting: { tone: "wait", word: "Reconnecting", meaning: "Connection lost. Reconnecting…" },
  offline: {
    tone: "bad",
    word: "Offline",
    meaning: "Forge is unreachable. The data shown may be out of date.",
  },
};

/** The state of the live connection. */
export function Connection() {
  const { tone, word, meaning } = SHOWN[useLiveStatus()];
  return (
    <span role="status" title={meaning} className="flex items-center gap-1.5 text-xs text-dim">
      <Dot tone={tone} />
      <span className={tone === "ok" ? "max-sm:sr-only" : ""}>{word}</span>
    </span>
  );
}
