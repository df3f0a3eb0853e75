import { type ReactNode, useEffect, useRef } from "react";
import { SearchField } from "./SearchField";

/** What a list is narrowed down with, above it and in sight however far one scrolls. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <search className="z-10 flex flex-wrap items-center gap-2 border-b border-line bg-bg px-4 py-2 max-sm:px-2 sm:sticky sm:top-0">
      {children}
    </search>
  );
}

type Props = {
  /** What the address says. */
  q: string;
  words: string;
  setWords: (words: string) => void;
  /** Put it into the address. */
  keep: (q: string) => void;
  label: string;
  group: string;
};

/** Words that are in the address, so that they can be passed on. It leads, except while somebody types: it is a little behind the keys then. */
export function AddressedSearch({ q, words, setWords, keep, ...field }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== input.current) setWords(q);
  }, [q, setWords]);
  return (
    <SearchField
      {...field}
      ref={input}
      placeholder="Name or words…"
      value={words}
      onChange={(typed) => {
        setWords(typed);
        keep(typed);
      }}
    />
  );
}
