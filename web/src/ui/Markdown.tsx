import { lazy, Suspense } from "react";

/** Called early, where Markdown is sure to come: then nobody sees it unset. */
export const loadMarkdown = () => import("./markdown/Rendered");
const Rendered = lazy(() => loadMarkdown().then(({ Rendered }) => ({ default: Rendered })));

type Props = {
  text: string;
  /** More of it is still to come. */
  isGrowing?: boolean;
};

/** What people and models write, set as Markdown. Until the parser is here the text stands as it is. */
export function Markdown({ text, isGrowing = false }: Props) {
  return (
    <Suspense fallback={<p className="break-words whitespace-pre-wrap">{text}</p>}>
      <Rendered text={text} isGrowing={isGrowing} />
    </Suspense>
  );
}
