import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { botsQuery } from "@/api/bots";
import { refreshRuns, runSkill, skillFileQuery } from "@/api/skills";
import type { SkillDetail } from "@/api/types";
import { Button, buttonClass } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";
import { TextArea } from "@/ui/Field";
import { inputOfTest, readInput } from "@/ui/json";
import { Kbd } from "@/ui/Kbd";
import { onSend } from "@/ui/keys";
import { Refusal } from "@/ui/Refusal";
import { Select } from "@/ui/Select";
import { nameOf } from "../source/tree";
import { KINDS } from "../words";
import { RunResult } from "./RunResult";

/** Runs the installed skill with its grants. */
export function RunDrawer({ skill, close }: { skill: SkillDetail; close: () => void }) {
  return (
    <Drawer close={close} title={`Run ${skill.name}`} description={KINDS[skill.kind].meaning}>
      <RunForm skill={skill} close={close} />
    </Drawer>
  );
}

function RunForm({ skill, close }: { skill: SkillDetail; close: () => void }) {
  const { name, kind } = skill;
  const cache = useQueryClient();
  const bots = useQuery(botsQuery({ sort: "name" })).data ?? [];
  const [text, setText] = useState("{}");
  const [bot, setBot] = useState("");
  const [isTouched, setTouched] = useState(false);
  const run = useMutation({
    mutationFn: runSkill,
    meta: { isShownInPlace: true },
    onSettled: () => refreshRuns(cache, name),
  });
  const { input, problem } = readInput(text);
  const start = () => {
    setTouched(true);
    if (input && !run.isPending) run.mutate({ name, input, bot: bot || null });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <TextArea
        label="Input"
        mono
        rows={6}
        spellCheck={false}
        value={text}
        error={isTouched ? problem : null}
        hint="A JSON object."
        onChange={(event) => setText(event.target.value)}
        onBlur={() => setTouched(true)}
        onKeyDown={onSend(start)}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Select
          label="Run as"
          value={bot}
          options={[
            { value: "", label: "No bot" },
            ...bots.map(({ slug, identity }) => ({ value: slug, label: `As ${identity.display_name}` })),
          ]}
          onChange={setBot}
        />
        <FromTest skill={skill} take={setText} />
        <Button look="primary" type="submit" className="ml-auto" disabled={problem !== null || run.isPending}>
          <Play size={13} aria-hidden /> {run.isPending ? "Running…" : "Run"} <Kbd keys="mod+enter" />
        </Button>
      </div>
      {kind === "prompt" && (
        <p className="text-xs text-dim">
          Instructions are followed by the model for bots, which has a small cost.
        </p>
      )}
      <Refusal error={run.error} />
      {run.data && !run.isPending && <RunResult ran={run.data} />}
      {run.data?.end === "refused" && !run.isPending && (
        <Link to="/skills/$name/permissions" params={{ name }} onClick={close} className={buttonClass()}>
          View permissions
        </Link>
      )}
    </form>
  );
}

type FromTestProps = { skill: SkillDetail; take: (input: string) => void };

/** Use the input of one of the skill's tests. */
function FromTest({ skill: { name, folder_hash, tests }, take }: FromTestProps) {
  const cache = useQueryClient();
  const read = useMutation({
    mutationFn: (path: string) => cache.fetchQuery(skillFileQuery(name, path, folder_hash)),
    onSuccess: ({ text }) => {
      const input = inputOfTest(text ?? "");
      if (input !== null) take(input);
    },
  });
  if (tests.length === 0) return null;
  return (
    <Select
      label="Use the input of a test"
      value=""
      options={[
        { value: "", label: "Input of a test…" },
        ...tests.map((path) => ({ value: path, label: nameOf(path) })),
      ]}
      onChange={(path) => path && read.mutate(path)}
    />
  );
}
