/** The editor's theme; light and dark come from the design tokens. */
import { EditorView } from "@codemirror/view";

export const THEME = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--bg)", color: "var(--ink)", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" }, // The frame shows the focus.
  ".cm-scroller": {
    fontFamily: "var(--font-mono)",
    fontVariantLigatures: "none",
    lineHeight: "20px",
    overflow: "auto",
  },
  ".cm-content": { padding: "8px 0", caretColor: "var(--accent)" },
  ".cm-line": { padding: "0 12px 0 6px" },
  ".cm-gutters": { backgroundColor: "var(--bg)", color: "var(--faint)", border: "none", paddingLeft: "4px" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "28px", padding: "0 6px 0 0" },
  ".cm-gutter-lint": { width: "14px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0" },
  ".cm-lint-marker": { width: "8px", height: "8px", margin: "6px 3px", borderRadius: "50%", content: '""' },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--wait-fill)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter": {
    backgroundColor: "color-mix(in oklab, var(--raised) 60%, transparent)",
  },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--ink)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    fontFamily: "var(--font-sans)",
  },
  ".cm-diagnostic": { padding: "4px 10px", borderLeft: "none" },
  ".cm-lintRange-error": { backgroundImage: "none", borderBottom: "2px dotted var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", borderBottom: "2px dotted var(--wait)" },
});
