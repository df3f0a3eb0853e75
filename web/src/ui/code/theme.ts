/** Maps syntax scopes to our color variables, which are defined in `code.css`. */
const color = (name: string, scope: string[]) => ({
  scope,
  settings: { foreground: `var(--code-${name})` },
});

export const THEME = {
  name: "forge",
  type: "light" as const,
  colors: { "editor.foreground": "var(--ink)", "editor.background": "var(--bg)" },
  settings: [
    color("comment", ["comment", "punctuation.definition.comment", "markup.quote"]),
    color("keyword", [
      "keyword",
      "storage",
      "keyword.operator.word",
      "keyword.operator.logical.python",
      "variable.language",
      "entity.name.tag",
      "markup.heading",
      "entity.name.section",
    ]),
    color("string", [
      "string",
      "punctuation.definition.string",
      "markup.inline.raw",
      "markup.fenced_code.block",
      "markup.inserted",
    ]),
    color("number", ["constant", "support.constant", "keyword.other.unit", "constant.language"]),
    color("name", [
      "entity.name.function",
      "support.function",
      "entity.name.type",
      "entity.name.class",
      "support.type",
      "support.class",
      "entity.other.attribute-name",
      "meta.function-call.generic",
    ]),
    color("removed", ["markup.deleted", "invalid"]),
    color("plain", ["keyword.operator", "punctuation", "meta.brace"]),
  ],
};
