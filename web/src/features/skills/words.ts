/** Labels for skills. */
import {
  BookOpenText,
  Braces,
  Brain,
  Database,
  FilePen,
  FileText,
  Globe,
  KeyRound,
  type LucideIcon,
  Radio,
  ScrollText,
  SquareTerminal,
  Terminal,
  Variable,
} from "lucide-react";
import type {
  SkillCapability,
  SkillDetail,
  SkillKind,
  SkillLimits,
  SkillOrigin,
  SkillState,
  SkillTier,
} from "@/api/types";
import type { Tone } from "@/ui/tone";

/** Breadcrumbs of the pages of one skill. */
export const CRUMBS = [{ label: "Skills", to: "/skills" }];

/** The declared kind; default: prompt. */
export function kindOf(manifest: SkillDetail["manifest"]): SkillKind {
  const said = manifest?.metadata?.["forge-kind"];
  return said === "script" || said === "local" ? said : "prompt";
}

export const KINDS: Record<SkillKind, { word: string; meaning: string; icon: LucideIcon }> = {
  prompt: { word: "prompt", meaning: "Instructions a bot follows.", icon: BookOpenText },
  script: {
    word: "script",
    meaning: "A script with access only to what is granted: JSON in, JSON out.",
    icon: Braces,
  },
  local: { word: "program", meaning: "A program on the server's machine, in the sandbox.", icon: Terminal },
};

/** `takes` describes the limits of a run at this tier, which the server enforces. */
export const TIERS: Record<SkillTier, { word: string; meaning: string; takes: string }> = {
  untrusted: {
    word: "untrusted",
    meaning: "Unknown origin, not reviewed.",
    takes: "16 MB of memory, 10 seconds",
  },
  verified: {
    word: "verified",
    meaning: "Reviewed by someone you trust.",
    takes: "64 MB of memory, 30 seconds",
  },
  local: {
    word: "local",
    meaning: "Your own code. Programs run only at this tier.",
    takes: "256 MB of memory, 60 seconds",
  },
};

/** `16 MB of memory, 10 seconds and 20 billion instructions`. */
export function limitWords({ memory_bytes, seconds, fuel }: SkillLimits): string {
  return `${memory_bytes / 2 ** 20} MB of memory, ${seconds} seconds and ${fuel / 1e9} billion instructions`;
}

export const STATES: Record<SkillState, { word: string; tone: Tone }> = {
  ready: { word: "ready", tone: "ok" },
  review: { word: "needs review", tone: "wait" },
  broken: { word: "broken", tone: "bad" },
};

/** Short labels; the server provides the details. */
export const CAPABILITIES: Record<SkillCapability, { word: string; icon: LucideIcon }> = {
  read_file: { word: "read files", icon: FileText },
  write_file: { word: "write files", icon: FilePen },
  http_get: { word: "fetch from the web", icon: Globe },
  http_post: { word: "send to the web", icon: Radio },
  exec_command: { word: "run programs", icon: SquareTerminal },
  read_env: { word: "read settings", icon: Variable },
  recall_memory: { word: "recall memories", icon: Brain },
  get_secret: { word: "use a secret", icon: KeyRound },
  kv: { word: "keep notes", icon: Database },
  log: { word: "write to the log", icon: ScrollText },
};

export const SOURCES: Record<SkillOrigin["type"], string> = {
  own: "own",
  starter: "starter",
  folder: "folder",
  zip: "zip",
  git: "git",
  registry: "registry",
};

/** The exact source, enough to find it again. */
export function whereFrom(source: SkillOrigin): string {
  switch (source.type) {
    case "own":
      return "made here";
    case "starter":
      return "included with Forge";
    case "folder":
      return source.path;
    case "zip":
      return source.name;
    case "git": {
      const place = [source.url, source.path].filter(Boolean).join(" · ");
      const at = source.ref ?? source.commit?.slice(0, 10);
      return at ? `${place} @ ${at}` : place;
    }
    case "registry":
      return `${source.registry}: ${source.name} ${source.version}`;
  }
}

/** Only these sources can be fetched again. */
export const hasUpdates = ({ type }: SkillOrigin): boolean => type === "git" || type === "registry";
