import { type ReactNode, useRef } from "react";
import { useRowKeys } from "./useRowKeys";

type Props = {
  label: string;
  /** How many there are, for whoever hears the page. */
  said: string;
  /** Items of a list. */
  children: ReactNode;
};

/** Cards side by side, as many as there is room for. J and K walk through them. */
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
