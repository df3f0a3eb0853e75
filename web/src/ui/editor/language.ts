/** The languages of the editor and their highlighting. */
import { yamlFrontmatter } from "@codemirror/lang-yaml";
import { defineLanguageFacet, HighlightStyle, Language, StreamLanguage } from "@codemirror/language";
import { javascript, json } from "@codemirror/legacy-modes/mode/javascript";
import { python } from "@codemirror/legacy-modes/mode/python";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import { parser } from "@lezer/markdown";
import "../code/code.css";

export type EditorLanguage =
  | "markdown"
  | "toml"
  | "javascript"
  | "python"
  | "json"
  | "yaml"
  | "shell"
  | "text";

const markdown = new Language(
  defineLanguageFacet({ commentTokens: { block: { open: "<!--", close: "-->" } } }),
  parser,
  [],
  "markdown",
);

export const LANGUAGES: Record<EditorLanguage, Extension> = {
  markdown: yamlFrontmatter({ content: markdown }),
  toml: StreamLanguage.define(toml),
  javascript: StreamLanguage.define(javascript),
  python: StreamLanguage.define(python),
  json: StreamLanguage.define(json),
  yaml: StreamLanguage.define(yaml),
  shell: StreamLanguage.define(shell),
  text: [],
};

/** The indentation of a language: four spaces for Python, otherwise two. */
export const indentOf = (language: EditorLanguage): string => (language === "python" ? "    " : "  ");

export const COLORS = HighlightStyle.define([
  { tag: tags.heading, fontWeight: "600", color: "var(--ink)" },
  { tag: tags.strong, fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.attributeName], color: "var(--run)" },
  { tag: [tags.content, tags.monospace], color: "var(--ink)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName)], color: "var(--code-name)" },
  { tag: [tags.number, tags.bool, tags.atom, tags.null], color: "var(--ok)" },
  { tag: [tags.link, tags.url], color: "var(--run)", textDecoration: "underline" },
  {
    tag: [tags.comment, tags.meta, tags.processingInstruction, tags.punctuation, tags.separator],
    color: "var(--faint)",
  },
  { tag: tags.quote, color: "var(--dim)", fontStyle: "italic" },
]);
