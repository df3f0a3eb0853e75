import { useMutation } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useState } from "react";
import { trySkill } from "@/api/skills";
import type { SkillKind } from "@/api/types";
import { Button } from "@/ui/Button";
import { TextArea } from "@/ui/Field";
import { readInput, writtenOut } from "@/ui/json";
import { Kbd } from "@/ui/Kbd";
import { Panel } from "@/ui/Panel";
import { Refusal } from "@/ui/Refusal";
import { useShortcut } from "@/ui/shortcuts";
import { RunResult } from "../run/RunResult";
import type { Texts } from "./draft";

type Props = { name: string; texts: Texts; kind: SkillKind | null };

/** Runs the edited version, saved or not. */
export function TryPanel({ name, texts, kind }: Props) {
  return (
    <Panel title="Try it" className="shrink-0 lg:w-[360px] lg:overflow-auto">
      {kind === "prompt" && (
        <p className="p-3 text-dim">
          Instructions are followed by a bot, so there is nothing to execute here. Save the skill and run it
          from its page, or attach it to a bot.
        </p>
      )}
      {kind === "local" && (
        <p className="p-3 text-dim">
          A program runs only when it is saved and granted. Save it, review what it requests, and run it from
          its page.
        </p>
      )}
      {(kind === "script" || kind === null) && <Trial name={name} texts={texts} />}
    </Panel>
  );
}

function Trial({ name, texts }: Pick<Props, "name" | "texts">) {
  const [text, setText] = useState(() => exampleOf(texts));
  const attempt = useMutation({ mutationFn: trySkill, meta: { isShownInPlace: true } });
  const { input, problem } = readInput(text);
  const run = () => {
    if (input && !attempt.isPending) attempt.mutate({ name, files: { ...texts }, input });
  };
  useShortcut("mod+enter", { label: "Run the unsaved version", group: "Skill" }, run);
  return (
    <div className="space-y-3 p-3">
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <TextArea
          label="Input"
          mono
          rows={5}
          spellCheck={false}
          hint="A JSON object."
          error={problem}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" look="primary" disabled={!input || attempt.isPending}>
          <Play size={13} aria-hidden /> {attempt.isPending ? "Running…" : "Run"} <Kbd keys="mod+enter" />
        </Button>
      </form>
      <Refusal error={attempt.error} />
      {attempt.data && <RunResult ran={attempt.data} />}
      <p className="text-xs text-dim">
        Runs as an untrusted skill without grants: it can log, and stored values are discarded.
      </p>
    </div>
  );
}

/** The input of its first test, as an example. */
function exampleOf(texts: Texts): string {
  const path = Object.keys(texts)
    .filter((path) => /^tests\/[^/]+\.json$/.test(path) && path !== "tests/triggers.json")
    .sort()[0];
  const { input: found } = readInput(path === undefined ? "" : (texts[path] ?? ""));
  return writtenOut(found?.input ?? {});
}
