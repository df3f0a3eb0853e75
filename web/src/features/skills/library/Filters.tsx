import { useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import { Button } from "@/ui/Button";
import { AddressedSearch, FilterBar } from "@/ui/FilterBar";
import { Select } from "@/ui/Select";
import { CAPABILITIES, KINDS, SOURCES, STATES, TIERS } from "../words";
import { type Filter, isFiltered, readShelf } from "./shelf";

const options = (any: string, known: Record<string, string | { word: string }>) => [
  { value: "", label: any },
  ...Object.entries(known).map(([value, one]) => ({
    value,
    label: typeof one === "string" ? one : one.word,
  })),
];

const CHOICES = [
  { name: "kind", label: "Kind", options: options("Any kind", KINDS) },
  { name: "state", label: "State", options: options("Any state", STATES) },
  { name: "tier", label: "Tier", options: options("Any tier", TIERS) },
  { name: "capability", label: "Capability", options: options("Any capability", CAPABILITIES) },
  { name: "source", label: "Source", options: options("Any source", SOURCES) },
] as const;

type Props = { filter: Filter; words: string; setWords: (words: string) => void };

/** The filters of the library, all stored in the URL. */
export function Filters({ filter, words, setWords }: Props) {
  const navigate = useNavigate();
  const change = (changed: Partial<Record<keyof Filter, string>>) =>
    void navigate({ to: "/skills", search: readShelf({ ...filter, ...changed }), replace: true });
  return (
    <FilterBar>
      <AddressedSearch
        label="Search skills"
        group="Skills"
        q={filter.q ?? ""}
        words={words}
        setWords={setWords}
        keep={(q) => change({ q })}
      />
      <div className="-m-1 flex gap-2 p-1 max-sm:overflow-x-auto sm:flex-wrap">
        {CHOICES.map(({ name, label, options }) => (
          <Select
            key={name}
            label={label}
            className="shrink-0"
            value={filter[name] ?? ""}
            options={options}
            onChange={(value) => change({ [name]: value })}
          />
        ))}
        {isFiltered(filter) && (
          <Button
            look="ghost"
            onClick={() => {
              setWords("");
              void navigate({ to: "/skills", search: {}, replace: true });
            }}
          >
            <X size={13} aria-hidden /> Clear
          </Button>
        )}
      </div>
    </FilterBar>
  );
}
