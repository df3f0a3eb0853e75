import type { Severity } from "@/api/types";
import { SearchField } from "@/ui/SearchField";
import { Select } from "@/ui/Select";
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
  return (
    <search className="flex min-w-0 flex-1 flex-wrap items-center gap-2 max-sm:order-3 max-sm:basis-full">
      <SearchField
        label="Filter findings"
        group="Audit"
        placeholder="Filter…"
        clearLabel="Clear the filter"
        className="min-w-[140px] flex-1 max-sm:basis-full sm:max-w-[280px]"
        value={filter.words}
        onChange={(words) => change({ words })}
      />
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
