/** The highlighted languages and their aliases. */
const NAMES = {
  c: ["c", "h", "cpp", "c++", "cc", "hpp", "cxx"],
  csharp: ["csharp", "c#", "cs"],
  css: ["css", "scss", "less"],
  diff: ["diff", "patch"],
  docker: ["docker", "dockerfile"],
  go: ["go", "golang"],
  html: ["html", "htm", "vue", "svelte"],
  ini: ["ini", "cfg", "conf", "properties"],
  java: ["java"],
  json: ["json", "jsonc", "json5", "jsonl"],
  kotlin: ["kotlin", "kt"],
  make: ["make", "makefile"],
  markdown: ["markdown", "md"],
  python: ["python", "py", "python3", "pyi"],
  rust: ["rust", "rs"],
  shellscript: ["shellscript", "shell", "bash", "sh", "zsh", "console"],
  sql: ["sql", "postgres", "postgresql", "sqlite", "mysql"],
  swift: ["swift"],
  toml: ["toml"],
  // One grammar for all variants; it parses plain JavaScript too.
  tsx: ["tsx", "ts", "typescript", "js", "javascript", "jsx", "mjs", "cjs", "node"],
  xml: ["xml", "svg", "xhtml"],
  yaml: ["yaml", "yml"],
} as const;

export type Language = keyof typeof NAMES;

const BY_NAME = new Map<string, Language>(
  Object.entries(NAMES).flatMap(([language, names]) => names.map((name) => [name, language as Language])),
);

export const languageOf = (name: string): Language | null => BY_NAME.get(name.toLowerCase()) ?? null;
