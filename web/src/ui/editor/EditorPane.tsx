import { clsx } from "clsx";
import { lazy, Suspense } from "react";
import { SkeletonRows } from "../Skeleton";
import type { EditorProps } from "./Editor";

const Editor = lazy(() => import("./Editor").then(({ Editor }) => ({ default: Editor })));

/** Fills the page; most of the screen on phones. */
const FILLING = "min-h-[320px] flex-1 max-lg:h-[60dvh] max-lg:flex-none";

/** The editor in a frame, loaded on demand. */
export function EditorPane({ size = FILLING, ...editor }: EditorProps & { size?: string }) {
  return (
    <div
      className={clsx(
        "overflow-hidden rounded-md border border-line focus-within:border-accent focus-within:ring-1 focus-within:ring-accent",
        size,
      )}
    >
      <Suspense fallback={<SkeletonRows rows={8} label="Loading editor" />}>
        <Editor {...editor} />
      </Suspense>
    </div>
  );
}
