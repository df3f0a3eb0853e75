import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { answerInterview, cancelThinking, readInterview, switchSpeaker } from "@/api/builder";
import { ApiError } from "@/api/client";
import type { Interview, InterviewAnswer, InterviewPhase, InterviewSpeaker } from "@/api/types";
import type { Told } from "./follow";

export type Talk = {
  choose: (index: number) => void;
  say: (text: string) => void;
  confirm: (yes: boolean) => void;
  /** Back to the previous question, or to the first one of a phase. */
  back: (phase?: InterviewPhase) => void;
  cancel: () => void;
  switchTo: (speaker: InterviewSpeaker) => Promise<unknown>;
  /** The answer to the current turn is being sent. */
  isSending: boolean;
  isSwitching: boolean;
  /** Why the answer to the current turn was rejected. */
  problem: unknown;
};

/** The actions of an interview. An answer applies to the current turn only. */
export function useTalk(session: Interview, tell: (told: readonly Told[]) => void): Talk {
  const { session_id: id, revision } = session;
  /** The turn being answered. A ref, because it is needed before the next render. */
  const sent = useRef<number | null>(null);
  const onSuccess = (told: Interview) => tell([{ type: "read", session: told }]);
  const answering = useMutation({
    mutationFn: (given: { answer: InterviewAnswer; revision: number }) => taken(id, given),
    meta: { isShownInPlace: true },
    onSuccess,
    onSettled: () => {
      sent.current = null;
    },
  });
  const cancelling = useMutation({ mutationFn: () => cancelThinking(id), onSuccess });
  const switching = useMutation({
    mutationFn: (speaker: InterviewSpeaker) => switchSpeaker({ id, speaker }),
    meta: { isShownInPlace: true },
    onSuccess,
  });
  const isOfThisTurn = answering.variables?.revision === revision;
  const isSending = answering.isPending && isOfThisTurn;
  const answer = (given: InterviewAnswer) => {
    if (sent.current === revision) return;
    sent.current = revision;
    answering.mutate({ answer: given, revision });
  };
  return {
    choose: (index) => answer({ kind: "option", index }),
    say: (text) => answer({ kind: "text", text }),
    confirm: (yes) => answer({ kind: "confirm", yes }),
    back: (phase) => answer({ kind: "back", phase: phase ?? null }),
    cancel: () => cancelling.mutate(),
    switchTo: switching.mutateAsync,
    isSending,
    isSwitching: switching.isPending,
    problem: isOfThisTurn ? answering.error : null,
  };
}

/** If the interview went on in the meantime, return its current turn instead. */
async function taken(id: string, given: { answer: InterviewAnswer; revision: number }): Promise<Interview> {
  try {
    return await answerInterview({ id, ...given });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "went_on") throw error;
    return readInterview(id, AbortSignal.timeout(LATE_MS));
  }
}

const LATE_MS = 30_000;
