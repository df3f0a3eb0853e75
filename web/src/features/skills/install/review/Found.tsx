import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import type { StagedSkill } from "@/api/types";
import { Dot } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { SearchField } from "@/ui/SearchField";
import { Select } from "@/ui/Select";
import { canInstall, chooseAll, chooseNone, type Decisions, decide, decisionOn, fitting } from "../choices";
import { STANDINGS, type Standing, standingOf } from "./standing";

type Props = {
  skills: readonly StagedSkill[];
  decisions: Decisions;
  setDecisions: (change: (before: Decisions) => Decisions) => void;
  shown: string;
  show: (path: string) => void;
};

const ROW_PX = 44;
type Only = Standing | "all";

/** All fetched skills, virtualized. */
export function Found({ skills, decisions, setDecisions, shown, show }: Props) {
  const [words, setWords] = useState("");
  const [only, setOnly] = useState<Only>("all");
  const wanted = useDeferredValue(words);
  const found = useMemo(
    () => fitting(skills, wanted).filter((skill) => only === "all" || standingOf(skill) === only),
    [skills, wanted, only],
  );
  const usable = found.filter(canInstall);
  return (
    <section aria-label="Found skills" className="flex min-h-0 min-w-0 flex-col gap-2">
      <div className="flex gap-2">
        <SearchField
          label="Filter found skills"
          placeholder="Filter…"
          className="min-w-0 flex-1"
          value={words}
          onChange={setWords}
        />
        <Select
          label="Show"
          value={only}
          options={optionsOf(skills)}
          onChange={(value) => setOnly(value as Only)}
        />
      </div>
      <Rows
        found={found}
        shown={shown}
        show={show}
        isChosen={(skill) => decisionOn(decisions, skill).isChosen}
        choose={(skill, isChosen) => setDecisions((before) => decide(before, skill, { isChosen }))}
      />
      <div className="flex flex-wrap items-center gap-1">
        <p role="status" className="mr-auto text-xs text-dim">
          {found.length} found, {usable.length} usable
        </p>
        <Button
          look="ghost"
          disabled={usable.length === 0}
          onClick={() => setDecisions((before) => chooseAll(before, found))}
        >
          Select all {usable.length}
        </Button>
        <Button look="ghost" onClick={() => setDecisions((before) => chooseNone(before, found))}>
          Select none
        </Button>
      </div>
    </section>
  );
}

function optionsOf(skills: readonly StagedSkill[]): { value: Only; label: string }[] {
  const standings = skills.map(standingOf);
  const there = (Object.keys(STANDINGS) as Standing[]).filter((standing) => standings.includes(standing));
  return [
    { value: "all", label: "All" },
    ...there.map((value) => ({ value, label: `${STANDINGS[value].word} (${sum(standings, value)})` })),
  ];
}

const sum = (standings: readonly Standing[], wanted: Standing): number =>
  standings.filter((standing) => standing === wanted).length;

type RowsProps = {
  found: readonly StagedSkill[];
  shown: string;
  show: (path: string) => void;
  isChosen: (skill: StagedSkill) => boolean;
  choose: (skill: StagedSkill, isChosen: boolean) => void;
};

function Rows({ found, shown, show, isChosen, choose }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  return (
    <div
      ref={box}
      className="min-h-0 flex-1 overflow-auto rounded-md border border-line max-lg:h-52 max-lg:flex-none"
    >
      {found.length === 0 && <p className="p-3 text-dim">No matches.</p>}
      <ul aria-label="Skills" className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const skill = found[index];
          return (
            skill && (
              <li
                key={skill.path}
                aria-setsize={found.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
                className={clsx(
                  "absolute inset-x-0 flex items-center gap-2.5 border-b border-line pl-3",
                  skill.path === shown ? "bg-raised" : "hover:bg-raised/50",
                )}
              >
                <FoundRow
                  skill={skill}
                  isShown={skill.path === shown}
                  isChosen={isChosen(skill)}
                  choose={(isOn) => choose(skill, isOn)}
                  show={() => show(skill.path)}
                />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

type RowProps = {
  skill: StagedSkill;
  isShown: boolean;
  isChosen: boolean;
  choose: (isChosen: boolean) => void;
  show: () => void;
};

function FoundRow({ skill, isShown, isChosen, choose, show }: RowProps) {
  const { word, tone } = STANDINGS[standingOf(skill)];
  return (
    <>
      <input
        type="checkbox"
        aria-label={`Install ${skill.name}`}
        disabled={!canInstall(skill)}
        checked={canInstall(skill) && isChosen}
        onChange={(event) => choose(event.target.checked)}
        className="size-3.5 shrink-0 accent-accent pointer-coarse:size-5"
      />
      <button
        type="button"
        aria-current={isShown ? "true" : undefined}
        onClick={show}
        className="flex h-full min-w-0 flex-1 flex-col justify-center pr-3 text-left leading-4 -outline-offset-2"
      >
        <span className="flex w-full items-baseline gap-2">
          <span className="min-w-0 truncate font-medium">{skill.name}</span>
          {skill.asks.length > 0 && (
            <span className="shrink-0 text-xs text-faint">requests {skill.asks.length}</span>
          )}
          <span className="ml-auto flex shrink-0 items-center gap-1.5 text-xs text-dim">
            <Dot tone={tone} className="size-1.5" /> {word}
          </span>
        </span>
        <span className="block w-full truncate text-xs text-dim" title={skill.path}>
          {skill.manifest?.description ?? skill.path}
        </span>
      </button>
    </>
  );
}
