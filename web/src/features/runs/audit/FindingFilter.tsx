import { Search, X } from "lucide-react";
import { useRef } from "react";
import type { Severity } from "@/api/types";
import { IconButton } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Select } from "@/ui/Select";
import { useShortcut } from "@/ui/shortcuts";
import type { Filter } from "./filter";

const SEVERITIES: readonly { value: Severity | ""; label: string }[] = [
  { value: "", label: "Any severity" },
  { value: "fail", label: "Fail" },
  { value: "error", label: "Error" },
  { value: "warn", label: "Warn" },
  { value: "note", label: "Note" },
];

type Props = {
  filter: Filter;
  codes: readonly string[];
  change: (changed: Partial<Filter>) => void;
};

export function FindingFilter({ filter, codes, change }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useShortcut("/", { label: "Filter the findings", group: "Audit" }, () => input.current?.focus());
  return (
    <search className="flex min-w-0 flex-1 flex-wrap items-center gap-2 max-sm:order-3 max-sm:basis-full">
      <div className="relative min-w-[140px] flex-1 max-sm:basis-full sm:max-w-[280px]">
        <Search size={13} aria-hidden className="absolute top-1/2 left-2 -translate-y-1/2 text-faint" />
        <input
          ref={input}
          type="search"
          aria-label="Filter the findings"
          placeholder="Filter…"
          value={filter.words}
          onChange={(event) => change({ words: event.target.value })}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          className="h-7 w-full appearance-none rounded-md border border-line bg-bg pr-7 pl-7 placeholder:text-faint hover:border-strong pointer-coarse:h-9 pointer-coarse:text-base [&::-webkit-search-cancel-button]:hidden"
        />
        {filter.words ? (
          <IconButton
            label="Clear the filter"
            className="absolute! top-0 right-0"
            onClick={() => {
              change({ words: "" });
              input.current?.focus();
            }}
          >
            <X size={13} aria-hidden />
          </IconButton>
        ) : (
          <span aria-hidden className="absolute top-1 right-1.5 text-dim">
            <Kbd keys="/" />
          </span>
        )}
      </div>
      <Select
        label="Check"
        value={filter.check ?? ""}
        options={[{ value: "", label: "Any check" }, ...codes.map((code) => ({ value: code, label: code }))]}
        onChange={(code) => change({ check: code || null })}
      />
      <Select
        label="Severity"
        value={filter.severity}
        options={SEVERITIES}
        onChange={(severity) => change({ severity: severity as Severity | "" })}
      />
    </search>
  );
}
