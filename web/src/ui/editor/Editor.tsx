import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useMemo, useRef } from "react";
import { COLORS, type EditorLanguage, indentOf, LANGUAGES } from "./language";
import { lineSeparator, stretchOf } from "./lines";
import type { Mistake } from "./mistake";
import { THEME } from "./theme";

export type EditorHandle = { goTo: (line: number | null, column: number | null) => void };

export type EditorProps = {
  label: string;
  text: string;
  language: EditorLanguage;
  marks?: readonly Mistake[];
  isReadOnly?: boolean;
  /** The initial line. */
  startLine?: number | undefined;
  onChange?: (text: string) => void;
  ref?: Ref<EditorHandle>;
};

const NO_MARKS: readonly Mistake[] = [];

/** A code editor with line numbers, highlighting and diagnostics. Line endings are preserved. */
export function Editor({
  label,
  text,
  language,
  marks = NO_MARKS,
  isReadOnly = false,
  startLine,
  onChange,
  ref,
}: EditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const tell = useRef(onChange);
  useEffect(() => {
    tell.current = onChange;
  });

  const extensions = useMemo(
    () => [...looks(label, language, isReadOnly), telling((changed) => tell.current?.(changed))],
    [label, language, isReadOnly],
  );
  const first = useRef(text);
  useEffect(() => {
    if (!box.current) return;
    const opened = new EditorView({ parent: box.current, state: begin(first.current, extensions) });
    view.current = opened;
    return () => {
      first.current = opened.state.sliceDoc();
      opened.destroy();
    };
  }, [extensions]);

  // Diagnostics move with the text; they are reset if they change or the text is replaced.
  const latestMarks = useRef(marks);
  useEffect(() => {
    const shown = view.current;
    if (!shown || shown.state.sliceDoc() === text) return;
    shown.setState(begin(text, extensions));
    mark(shown, latestMarks.current);
  }, [text, extensions]);
  // biome-ignore lint/correctness/useExhaustiveDependencies(extensions): an editor that was built anew has none
  useEffect(() => {
    latestMarks.current = marks;
    if (view.current) mark(view.current, marks);
  }, [marks, extensions]);

  useEffect(() => {
    if (startLine !== undefined && view.current) goTo(view.current, startLine, null);
  }, [startLine]);
  useImperativeHandle(
    ref,
    () => ({ goTo: (line, column) => view.current && goTo(view.current, line, column) }),
    [],
  );
  return <div ref={box} className="h-full min-h-0" />;
}

function begin(text: string, extensions: Extension): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [extensions, EditorState.lineSeparator.of(lineSeparator(text))],
  });
}

/** Ctrl+Enter is left to the page. */
const KEYS = defaultKeymap.filter(({ key }) => key !== "Mod-Enter");

function looks(label: string, language: EditorLanguage, isReadOnly: boolean): Extension[] {
  return [
    lineNumbers(),
    lintGutter(),
    history(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    indentUnit.of(indentOf(language)),
    keymap.of([...KEYS, ...historyKeymap, ...lintKeymap]),
    LANGUAGES[language],
    syntaxHighlighting(COLORS),
    THEME,
    EditorView.lineWrapping,
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({
      "aria-label": label,
      tabindex: "0",
      "aria-readonly": String(isReadOnly),
      spellcheck: String(language === "markdown" && !isReadOnly),
    }),
  ];
}

const telling = (tell: (text: string) => void): Extension =>
  EditorView.updateListener.of((update) => {
    if (update.docChanged) tell(update.state.sliceDoc());
  });

function goTo(view: EditorView, line: number | null, column: number | null): void {
  const anchor = stretchOf(view.state.doc, line, column).from;
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  view.focus();
}

function mark(view: EditorView, marks: readonly Mistake[]): void {
  view.dispatch(setDiagnostics(view.state, toDiagnostics(view.state, marks)));
}

function toDiagnostics({ doc }: EditorState, marks: readonly Mistake[]): Diagnostic[] {
  return marks.map(({ line = null, column = null, message, is_warning }) => ({
    ...stretchOf(doc, line, column),
    severity: is_warning ? "warning" : "error",
    message,
  }));
}
