import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useRef } from "react";
import type { BotSort } from "@/api/types";
import { Kbd } from "@/ui/Kbd";
import { Segmented } from "@/ui/Segmented";
import { Select } from "@/ui/Select";
import { useShortcut } from "@/ui/shortcuts";
import { readShelf, SHOWN, type Shelf, SORTS } from "./shelf";

const STATES = SHOWN.map((value) => ({
  value,
  label: value.replace(/^./, (letter) => letter.toUpperCase()),
}));

type Props = { shelf: Shelf; words: string; setWords: (words: string) => void };

/** Which bots are shown: those with these words, in this state, in this order. */
export function Filters({ shelf, words, setWords }: Props) {
  const navigate = useNavigate();
  const change = (changed: Shelf) =>
    void navigate({ to: "/bots", search: readShelf({ ...shelf, ...changed }), replace: true });
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2 max-sm:px-2">
      <WordsField words={words} setWords={setWords} />
      <div className="max-w-full overflow-x-auto">
        <Segmented
          label="State"
          value={shelf.show ?? "all"}
          options={STATES}
          onChange={(show) => change({ show })}
        />
      </div>
      <Select
        label="Order"
        className="sm:ml-auto"
        value={shelf.sort ?? "activity"}
        options={SORTS}
        onChange={(sort) => change({ sort: sort as BotSort })}
      />
    </search>
  );
}

function WordsField({ words, setWords }: Omit<Props, "shelf">) {
  const input = useRef<HTMLInputElement>(null);
  useShortcut("/", { label: "Filter the bots", group: "Bots" }, () => input.current?.focus());
  return (
    <div className="relative w-60 max-sm:w-full">
      <Search size={13} aria-hidden className="absolute top-1/2 left-2 -translate-y-1/2 text-faint" />
      <input
        ref={input}
        type="search"
        aria-label="Filter the bots"
        placeholder="Name or tag…"
        autoComplete="off"
        spellCheck={false}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        className="h-7 w-full rounded-md border border-line bg-bg pr-7 pl-7 placeholder:text-faint hover:border-strong pointer-coarse:h-9 pointer-coarse:text-base"
      />
      {!words && (
        <span aria-hidden className="absolute top-1 right-1.5 text-dim">
          <Kbd keys="/" />
        </span>
      )}
    </div>
  );
}
