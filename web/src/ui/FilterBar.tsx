import { type ReactNode, useEffect, useRef } from "react";
import { SearchField } from "./SearchField";

/** The sticky bar with a list's search and filters. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <search className="z-10 flex flex-wrap items-center gap-2 border-b border-line bg-bg px-4 py-2 max-sm:px-2 sm:sticky sm:top-0">
      {children}
    </search>
  );
}

type Props = {
  /** The search text in the URL. */
  q: string;
  words: string;
  setWords: (words: string) => void;
  /** Store it in the URL. */
  keep: (q: string) => void;
  label: string;
  group: string;
};

/**
 * A search field whose text is stored in the URL. The URL wins except while typing, because it lags behind the keys.
 */
export function AddressedSearch({ q, words, setWords, keep, ...field }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== input.current) setWords(q);
  }, [q, setWords]);
  return (
    <SearchField
      {...field}
      ref={input}
      placeholder="Search…"
      value={words}
      onChange={(typed) => {
        setWords(typed);
        keep(typed);
      }}
    />
  );
}
