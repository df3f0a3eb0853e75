/** Log lines of workflow run events. */
import type { Event, EventOf, WorkflowStep } from "@/api/types";
import { toneOf } from "@/ui/LogLines";
import type { LogLine } from "@/ui/LogView";
import { formatClock, formatDuration } from "@/ui/time";
import type { Tone } from "@/ui/tone";

type Said = { source: string; text: string; tone?: Tone };

/** Empty for events that the log does not show. */
export function toLogLines(event: Event): LogLine[] {
  const { seq, at } = event;
  if (seq === null) return [];
  return say(event).map(({ source, text, tone }) => ({ seq, at, source, text, tone: tone ?? null }));
}

function say(event: Event): Said[] {
  switch (event.type) {
    case "workflow.step":
      return sayStep(event.data.step);
    case "workflow.log":
      return event.data.lines.map(({ level, text }) => ({
        source: event.data.key,
        text,
        tone: toneOf(level),
      }));
    case "run.created":
      return run("Queued.");
    case "run.started":
      return run(`Started on ${event.data.worker}${attempt(event.data.attempt)}.`, "run");
    case "run.waiting":
      return event.data.until ? run(`Waiting until ${formatClock(event.data.until)}.`) : run("Waiting.");
    case "run.resumed":
      return run("Resumed.");
    case "run.completed":
      return run("Completed.", "ok");
    case "run.failed":
      return run(withHint(`Failed: ${event.data.error.message}`, event.data.error.hint), "bad");
    case "run.cancelled":
      return run(`Cancelled by ${event.data.by}.`);
    case "gate.opened":
      return [{ source: "gate", text: `Question: ${event.data.gate.title}`, tone: "wait" }];
    case "gate.answered":
      return [{ source: "gate", text: answered(event) }];
    case "gate.expired":
      return [{ source: "gate", text: "The question expired.", tone: "wait" }];
    case "gate.closed":
      return [{ source: "gate", text: "The question was withdrawn." }];
    default:
      return [];
  }
}

const run = (text: string, tone: Tone = "idle"): Said[] => [{ source: "run", text, tone }];

const attempt = (number: number): string => (number > 1 ? ` (attempt ${number})` : "");
const withHint = (text: string, hint: string | null | undefined): string => (hint ? `${text} ${hint}` : text);

function sayStep(step: WorkflowStep): Said[] {
  const source = step.key;
  const { note, error } = step;
  const why = error ? withHint(error.message, error.hint) : "";
  switch (step.status) {
    case "running":
      return [{ source, text: `Started${attempt(step.attempt)}.`, tone: "run" }];
    case "waiting":
      return [{ source, text: note || "Waiting.", tone: "wait" }];
    case "retrying":
      return [{ source, text: `${why || "Failed."} Retrying.${note && ` ${note}`}`, tone: "wait" }];
    case "completed":
      return [
        { source, text: step.is_kept ? "Kept from the previous run." : `Done${took(step)}.`, tone: "ok" },
      ];
    case "failed":
      return [{ source, text: `Failed: ${why}`, tone: "bad" }];
    case "skipped":
      return [{ source, text: note ? `Skipped. ${note}` : "Skipped.", tone: "idle" }];
    case "cancelled":
      return [{ source, text: "Cancelled." }];
  }
}

function took({ started_at: from, finished_at: to }: WorkflowStep): string {
  return from && to ? ` in ${formatDuration(Date.parse(to) - Date.parse(from))}` : "";
}

function answered({ data }: EventOf<"gate.answered">): string {
  const said = `${data.answered_by} answered: ${data.option}.`;
  return data.comment ? `${said} “${data.comment}”` : said;
}
