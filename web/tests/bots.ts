/** Bots and their files for tests: short to write, true to the schema. */
import type { Bot, FileDiff, FileState, Models } from "@/api/types";
import { time } from "./events";

export function bot(changes: Partial<Bot> = {}, identity: Partial<Bot["identity"]> = {}): Bot {
  return {
    id: "b1",
    slug: "release-notes",
    status: "active",
    identity: {
      display_name: "Release notes",
      description: "Writes them.",
      category: "assistant",
      tags: ["writing", "releases"],
      provider: null,
      model: null,
      temperature: 0.7,
      max_tokens: 4096,
      avatar: "🤖",
      colour: "#e2703a",
      memory: true,
      ...identity,
    },
    created_at: time(0),
    updated_at: time(0),
    last_active_at: null,
    deleted_at: null,
    folder: "/data/bots/release-notes",
    model: "anthropic:claude",
    problems: [],
    blocked: null,
    soul_version: 1,
    sessions: 0,
    answering: 0,
    messages: 0,
    tokens: 0,
    spent_micros: 0,
    ...changes,
  };
}

export const diff = (changes: Partial<FileDiff> = {}): FileDiff => ({
  left: "the file on disk",
  right: "your text",
  added: 1,
  removed: 1,
  rows: [{ kind: "changed", left_line: 1, left: "their words", right_line: 1, right: "my words" }],
  is_cut: false,
  ...changes,
});

export const file = (content: string | null, changes: Partial<FileState> = {}): FileState => ({
  file: "soul",
  content,
  hash: content === null ? null : `hash of ${content}`,
  version: 1,
  is_accepted: true,
  problems: [],
  diff: null,
  ...changes,
});

export const models: Models = {
  providers: ["anthropic", "local"].map((name) => ({
    name,
    kind: "openai",
    base_url: null,
    key_name: null,
    built_in: false,
    is_shared: false,
    has_key: true,
    last_four: "",
  })),
  roles: [{ role: "bot", chain: ["anthropic:claude"], source: "default", prices: [], problem: null }],
  prices: {},
  budgets: [],
  today_by_model: {},
  known: ["anthropic:claude", "local:llama3:8b"],
};

/** jsdom has no screen: this one is wide. */
export function beWide(matches = true): void {
  vi.stubGlobal("matchMedia", (media: string) => ({
    media,
    matches,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
}
