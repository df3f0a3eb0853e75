import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { keepUnsent, readUnsent } from "./unsent";

export type Words = {
  text: string;
  setText: (text: string) => void;
  mayTry: boolean;
  send: () => void;
  /** Send this text as if it had been typed. */
  say: (text: string) => void;
  problem: Error | null;
};

type Options = {
  /** The key of the unsent text. */
  place: string;
  isAnswering: boolean;
  ask: (text: string) => Promise<unknown>;
};

/** The text of the composer, kept until the server accepts it. */
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
      // Remove only what was sent: more may have been typed since, even in another conversation.
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
