import { lazy, Suspense } from "react";

/** Call early where Markdown is needed, to avoid a flash of plain text. */
export const loadMarkdown = () => import("./markdown/Rendered");
const Rendered = lazy(() => loadMarkdown().then(({ Rendered }) => ({ default: Rendered })));

type Props = {
  text: string;
  /** More text will follow. */
  isGrowing?: boolean;
};

/** Text rendered as Markdown. Shown as plain text until the parser is loaded. */
export function Markdown({ text, isGrowing = false }: Props) {
  return (
    <Suspense fallback={<p className="break-words whitespace-pre-wrap">{text}</p>}>
      <Rendered text={text} isGrowing={isGrowing} />
    </Suspense>
  );
}
