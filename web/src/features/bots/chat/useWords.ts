import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { keepUnsent, readUnsent } from "./unsent";

export type Words = {
  text: string;
  setText: (text: string) => void;
  mayTry: boolean;
  send: () => void;
  /** Say this, as if it had been typed. */
  say: (text: string) => void;
  problem: Error | null;
};

type Options = {
  /** Whose unsent words these are. */
  place: string;
  isAnswering: boolean;
  ask: (text: string) => Promise<unknown>;
};

/** What is being typed, kept as long as it is not taken: a refusal takes nothing away. */
export function useWords({ place, isAnswering, ask }: Options): Words {
  const [words, setWords] = useState({ place, text: readUnsent(place) });
  const text = words.place === place ? words.text : readUnsent(place);
  useEffect(() => {
    keepUnsent(words.place, words.text);
  }, [words]);
  const sending = useMutation({
    mutationFn: (words: string) => ask(words),
    meta: { isShownInPlace: true },
    onMutate: () => ({ from: place }),
    onSuccess: (_answer, sent, { from }) => {
      // Only what was sent is taken off: more may have been typed meanwhile, in another conversation too.
      if (readUnsent(from) === sent) keepUnsent(from, "");
      setWords((now) => (now.place === from && now.text === sent ? { place: from, text: "" } : now));
    },
  });
  const mayTry = text.trim() !== "" && !sending.isPending && !isAnswering;
  const setText = (text: string) => setWords({ place, text });
  return {
    text,
    setText,
    mayTry,
    send: () => mayTry && sending.mutate(text),
    say: (text) => {
      setText(text);
      if (!sending.isPending && !isAnswering) sending.mutate(text);
    },
    problem: sending.context?.from === place ? sending.error : null,
  };
}
