import { type ReactNode, useRef } from "react";
import { useRowKeys } from "./useRowKeys";

type Props = {
  label: string;
  /** The number of cards, for screen readers. */
  said: string;
  /** List items. */
  children: ReactNode;
};

/** Cards in a responsive grid. J and K move between them. */
export function CardGrid({ label, said, children }: Props) {
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  return (
    <>
      <p role="status" className="sr-only">
        {said}
      </p>
      <ul
        ref={list}
        aria-label={label}
        className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,300px),1fr))] gap-3 p-4 max-sm:p-2"
      >
        {children}
      </ul>
    </>
  );
}
