import type { MemoryCategory } from "@/api/types";

export const CATEGORIES: readonly { value: MemoryCategory; label: string }[] = [
  { value: "preference", label: "preference" },
  { value: "fact", label: "fact" },
  { value: "decision", label: "decision" },
  { value: "context", label: "context" },
  { value: "correction", label: "correction" },
];

export const IMPORTANCES: readonly { value: string; label: string }[] = [
  { value: "5", label: "5, essential" },
  { value: "4", label: "4" },
  { value: "3", label: "3, normal" },
  { value: "2", label: "2" },
  { value: "1", label: "1, minor" },
];

export const LONGEST_FACT = 1000;
