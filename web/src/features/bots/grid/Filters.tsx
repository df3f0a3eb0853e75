import { useNavigate } from "@tanstack/react-router";
import type { BotSort } from "@/api/types";
import { AddressedSearch, FilterBar } from "@/ui/FilterBar";
import { Segmented } from "@/ui/Segmented";
import { Select } from "@/ui/Select";
import { readShelf, SHOWN, type Shelf, SORTS } from "./shelf";

const STATES = SHOWN.map((value) => ({
  value,
  label: value.replace(/^./, (letter) => letter.toUpperCase()),
}));

type Props = { shelf: Shelf; words: string; setWords: (words: string) => void };

/** Search, status filter and order of the bots, all stored in the URL. */
export function Filters({ shelf, words, setWords }: Props) {
  const navigate = useNavigate();
  const change = (changed: Shelf) =>
    void navigate({ to: "/bots", search: readShelf({ ...shelf, ...changed }), replace: true });
  return (
    <FilterBar>
      <AddressedSearch
        label="Search bots"
        group="Bots"
        q={shelf.q ?? ""}
        words={words}
        setWords={setWords}
        keep={(q) => change({ q })}
      />
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
    </FilterBar>
  );
}
