/** Maps syntax scopes to our color variables, which are defined in `code.css`. */
const colour = (name: string, scope: string[]) => ({
  scope,
  settings: { foreground: `var(--code-${name})` },
});

export const THEME = {
  name: "forge",
  type: "light" as const,
  colors: { "editor.foreground": "var(--ink)", "editor.background": "var(--bg)" },
  settings: [
    colour("comment", ["comment", "punctuation.definition.comment", "markup.quote"]),
    colour("keyword", [
      "keyword",
      "storage",
      "keyword.operator.word",
      "keyword.operator.logical.python",
      "variable.language",
      "entity.name.tag",
      "markup.heading",
      "entity.name.section",
    ]),
    colour("string", [
      "string",
      "punctuation.definition.string",
      "markup.inline.raw",
      "markup.fenced_code.block",
      "markup.inserted",
    ]),
    colour("number", ["constant", "support.constant", "keyword.other.unit", "constant.language"]),
    colour("name", [
      "entity.name.function",
      "support.function",
      "entity.name.type",
      "entity.name.class",
      "support.type",
      "support.class",
      "entity.other.attribute-name",
      "meta.function-call.generic",
    ]),
    colour("removed", ["markup.deleted", "invalid"]),
    colour("plain", ["keyword.operator", "punctuation", "meta.brace"]),
  ],
};
