/** Syntax highlighting. Loaded with the first code block, grammars on demand. */
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import { codeToTokensBase, createShikiPrimitive } from "@shikijs/primitive";
import { GRAMMARS } from "./grammars";
import type { Language } from "./languages";
import { THEME } from "./theme";

export type Piece = { content: string; offset: number; color?: string };
export type Line = readonly Piece[];

const shiki = createShikiPrimitive({
  engine: createJavaScriptRegexEngine({ forgiving: true }),
  themes: [THEME],
  langs: [],
  warnings: false,
});

export async function highlight(text: string, language: Language): Promise<readonly Line[]> {
  if (!shiki.getLoadedLanguages().includes(language)) {
    shiki.loadLanguageSync((await GRAMMARS[language]()).default);
  }
  return codeToTokensBase(shiki, text, { lang: language, theme: THEME.name });
}
