import { Dialog } from "@base-ui/react/dialog";
import { clsx } from "clsx";
import { Search } from "lucide-react";
import { type ComponentType, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Kbd } from "./Kbd";
import { rank } from "./rank";

export type Command = {
  id: string;
  label: string;
  group: string;
  icon?: ComponentType<{ size?: number }>;
  /** Additional search terms. */
  keywords?: string;
  keys?: string;
  /** Secondary text at the end of the line. */
  detail?: string;
  run: () => void;
};

type Props = { open: boolean; onOpenChange: (open: boolean) => void; commands: readonly Command[] };

/** The command palette with fuzzy search. */
export function CommandPalette({ open, onOpenChange, commands }: Props) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Popup
          aria-label="Command palette"
          className="fixed top-[12vh] left-1/2 z-50 flex max-h-[60vh] w-[calc(100vw-24px)] max-w-[560px] -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-surface shadow-2xl outline-none"
        >
          <Finder commands={commands} close={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Finder({ commands, close }: { commands: readonly Command[]; close: () => void }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const found = findCommands(commands, query);
  const active = found[at];

  const choose = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step) setAt((at + step + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") choose(active);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) close();
    else return;
    event.preventDefault();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies(active): another choice is the reason to scroll
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);

  return (
    <>
      <div className="flex h-11 shrink-0 items-center gap-2 border-b border-line px-3">
        <Search size={15} aria-hidden className="shrink-0 text-faint" />
        <input
          role="combobox"
          aria-label="Search or run"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={active && `${id}-${active.id}`}
          placeholder="Search or run…"
          autoComplete="off"
          spellCheck={false}
          className="h-full w-full bg-transparent text-base outline-none placeholder:text-faint"
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <Kbd keys="esc" />
      </div>
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label="Commands"
        className="min-h-0 overflow-auto p-1.5"
      >
        {groupsOf(found).map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options has no element of its own
          <div key={group} role="group" aria-label={group}>
            <p aria-hidden className="px-2 pt-2 pb-1 text-xs font-medium text-faint">
              {group}
            </p>
            {found
              .filter((command) => command.group === group)
              .map((command) => (
                <Choice
                  key={command.id}
                  id={`${id}-${command.id}`}
                  command={command}
                  isActive={command === active}
                  onPoint={() => setAt(found.indexOf(command))}
                  onChoose={() => choose(command)}
                />
              ))}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="px-4 pb-6 text-center text-dim">No matches for “{query}”.</p>}
    </>
  );
}

type ChoiceProps = {
  id: string;
  command: Command;
  isActive: boolean;
  onPoint: () => void;
  onChoose: () => void;
};

function Choice({ id, command, isActive, onPoint, onChoose }: ChoiceProps) {
  const { icon: Icon, keys } = command;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the text field, which owns this list
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      tabIndex={-1}
      onPointerMove={onPoint}
      onClick={onChoose}
      className={clsx(
        "flex h-8 items-center gap-2.5 rounded-md px-2 pointer-coarse:h-10",
        isActive ? "bg-raised text-ink" : "text-dim",
      )}
    >
      {Icon && <Icon size={15} />}
      <span className="truncate">{command.label}</span>
      <span className="mono ml-auto flex shrink-0 text-faint">
        {command.detail}
        {keys && <Kbd keys={keys} />}
      </span>
    </div>
  );
}

const groupsOf = (commands: readonly Command[]) => [...new Set(commands.map((command) => command.group))];

/** The matching commands, best first, but grouped. */
export function findCommands(commands: readonly Command[], query: string): Command[] {
  const scored = commands
    .map((command) => ({
      command,
      score: Math.max(rank(query, command.label), rank(query, command.keywords ?? "") / 2),
    }))
    .filter(({ score }) => score >= 1)
    .sort((a, b) => b.score - a.score)
    .map(({ command }) => command);
  return groupsOf(scored).flatMap((group) => scored.filter((command) => command.group === group));
}
