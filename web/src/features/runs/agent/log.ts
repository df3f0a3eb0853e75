/** Log lines of agent events. */
import type { EventOf } from "@/api/types";
import { count } from "@/ui/count";
import { formatMicros, formatTokens } from "@/ui/money";
import { formatDuration } from "@/ui/time";
import type { Tone } from "@/ui/tone";
import type { EventFor } from "../parts";
import { END } from "./words";

type Said = { text: string; tone?: Tone };

export function sayOfAgent(event: EventFor<"agent">): Said {
  switch (event.type) {
    case "agent.started":
      return { text: `Started as ${event.data.role} with ${event.data.tools.join(", ")}.` };
    case "agent.turn":
      return { text: turn(event), tone: "run" };
    case "agent.tool":
      return used(event);
    case "agent.compacted":
      return { text: compacted(event), tone: "idle" };
    case "agent.heard":
      return { text: event.data.messages.map(({ sent_by, text }) => `${sent_by} said: ${text}`).join("\n") };
    case "agent.reminded":
      return { text: `Forge reminded the model: ${event.data.text}`, tone: "wait" };
    case "agent.verified":
      return verified(event);
    case "agent.ended":
      return ended(event);
  }
}

function turn({ data }: EventOf<"agent.turn">): string {
  const wants = data.tools.map(({ name }) => name).join(", ");
  const first = data.text.trim().split("\n", 1)[0];
  return `Turn ${data.turn}: ${[first, wants && `→ ${wants}`].filter(Boolean).join(" ") || "empty answer"}`;
}

function used({ data }: EventOf<"agent.tool">): Said {
  const text = `${data.name}: ${data.summary} (${formatDuration(data.duration_ms)})`;
  return data.is_error ? { text, tone: "bad" } : { text, tone: "idle" };
}

function compacted({ data }: EventOf<"agent.compacted">): string {
  return `The conversation was compacted: ${formatTokens(data.tokens_before)} to ${formatTokens(data.tokens_after)} tokens.`;
}

function verified({ data: { verification } }: EventOf<"agent.verified">): Said {
  const { command, summary, passed } = verification;
  return { text: `Forge ran ${command}: ${summary}`, tone: passed ? "ok" : "bad" };
}

function ended({ data: { result } }: EventOf<"agent.ended">): Said {
  const { word, meaning, tone } = END[result.end];
  return {
    text: `Ended, ${word}: ${meaning} ${count(result.turns, "turn")}, ${formatMicros(result.cost_micros)}.`,
    tone,
  };
}
