/** How a file is written, for the colours: Markdown below YAML front matter, or TOML. */
import { yamlFrontmatter } from "@codemirror/lang-yaml";
import { defineLanguageFacet, HighlightStyle, Language, StreamLanguage } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import { parser } from "@lezer/markdown";

export type EditorLanguage = "markdown" | "toml";

const markdown = new Language(
  defineLanguageFacet({ commentTokens: { block: { open: "<!--", close: "-->" } } }),
  parser,
  [],
  "markdown",
);

export const LANGUAGES: Record<EditorLanguage, Extension> = {
  markdown: yamlFrontmatter({ content: markdown }),
  toml: StreamLanguage.define(toml),
};

export const COLOURS = HighlightStyle.define([
  { tag: tags.heading, fontWeight: "600", color: "var(--ink)" },
  { tag: tags.strong, fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.attributeName], color: "var(--run)" },
  { tag: [tags.string, tags.content, tags.monospace], color: "var(--ink)" },
  { tag: [tags.number, tags.bool, tags.atom, tags.null], color: "var(--ok)" },
  { tag: [tags.link, tags.url], color: "var(--run)", textDecoration: "underline" },
  {
    tag: [tags.comment, tags.meta, tags.processingInstruction, tags.punctuation, tags.separator],
    color: "var(--faint)",
  },
  { tag: tags.quote, color: "var(--dim)", fontStyle: "italic" },
]);
