/** What a new skill begins with: a frame of its kind that can be tried before anything is written into it. */
import type { SkillKind } from "@/api/types";
import { MAIN, type Texts } from "./draft";

export type Frame = "prompt" | "js" | "py" | "program";

type FrameWords = { kind: SkillKind; title: string; meaning: string };

export const FRAMES: Record<Frame, FrameWords> = {
  prompt: { kind: "prompt", title: "Instructions", meaning: "Words a bot follows when the task fits." },
  js: {
    kind: "script",
    title: "Script in JavaScript",
    meaning: "JSON in, JSON out, where it can touch nothing that is not granted.",
  },
  py: {
    kind: "script",
    title: "Script in Python",
    meaning: "The same, in Python. Nothing is to be installed.",
  },
  program: {
    kind: "local",
    title: "Program",
    meaning: "A Python program of this machine, in the sandbox. It has to be granted before it runs.",
  },
};

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** Addresses of the pages beside those of skills. */
const TAKEN = ["new"];

export function wrongName(name: string): string | null {
  if (TAKEN.includes(name)) return `A skill cannot be called ${name}.`;
  if (name.length > 64) return "A name has 64 characters at most.";
  return NAME.test(name) ? null : "Small letters, digits and single hyphens between them.";
}

export function framed(frame: Frame, name: string, description: string): Texts {
  const { kind } = FRAMES[frame];
  const asked = frame === "program" ? ["  forge-capabilities: exec_command"] : [];
  const head = [
    "---",
    `name: ${name}`,
    `description: ${quoted(description)}`,
    "metadata:",
    '  version: "0.1.0"',
    `  forge-kind: ${kind}`,
    ...asked,
    "---",
  ];
  const body = kind === "prompt" ? instructions(name) : usage(name);
  return { [MAIN]: `${head.join("\n")}\n\n${body}`, ...CODE[frame] };
}

/** JSON is YAML: whatever somebody writes stays one text. */
const quoted = (text: string): string => JSON.stringify(text.replace(/\s+/g, " ").trim());

const titleOf = (name: string): string => {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const instructions = (name: string): string => `# ${titleOf(name)}

## When to use it

Say here what somebody asks for when this skill is the right one.

## How to proceed

1. Read what you were given, all of it.
2. Do the work, step by step.
3. Give the result first, then what the reader has to know about it.

## Keep in mind

- Use only what you were given and what you know for certain.
`;

const usage = (name: string): string => `# ${titleOf(name)}

## How to call it

Give it \`{"text": "…"}\`. It answers with \`{"words": 2}\`.
`;

const CASE = `${JSON.stringify(
  { name: "counts the words", input: { text: "two words" }, expect: { words: 2 } },
  null,
  2,
)}\n`;

const JS = `/** JSON in, JSON out. */
function run(input) {
  const words = String(input.text ?? "").split(/\\s+/).filter(Boolean);
  console.log("counted", words.length);
  return { words: words.length };
}
`;

const PY = `def run(input):
    """JSON in, JSON out."""
    words = str(input.get("text", "")).split()
    print("counted", len(words))
    return {"words": len(words)}
`;

const PROGRAM = `import json
import sys

given = json.load(sys.stdin)
words = str(given.get("text", "")).split()
json.dump({"words": len(words)}, sys.stdout)
`;

const CODE: Record<Frame, Texts> = {
  prompt: {},
  js: { "skill.js": JS, "tests/counts.json": CASE },
  py: { "skill.py": PY, "tests/counts.json": CASE },
  program: { "scripts/run.py": PROGRAM, "tests/counts.json": CASE },
};
