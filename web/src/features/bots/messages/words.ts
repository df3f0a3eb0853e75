/** Labels for messages, and their grouping into threads. */
import type { BotMessage, MessageDelivery, MessageRecipient, MessageSender } from "@/api/types";
import type { Tone } from "@/ui/tone";

export const TYPES: readonly { value: string; label: string; hint: string }[] = [
  { value: "text", label: "Message", hint: "The bot answers as it would in a chat." },
  { value: "question", label: "Question", hint: "The bot replies with an answer." },
  { value: "delegation", label: "Task", hint: "The bot does it and reports the result." },
  { value: "information", label: "Information", hint: "The bot notes it and does not reply." },
];

export const typeWord = (type: string): string =>
  TYPES.find(({ value }) => value === type)?.label.toLowerCase() ?? type.replaceAll("_", " ");

export const DELIVERIES: Record<MessageDelivery["status"], { word: string; tone: Tone }> = {
  queued: { word: "queued", tone: "idle" },
  delivering: { word: "answering", tone: "run" },
  answered: { word: "answered", tone: "ok" },
  silent: { word: "noted", tone: "ok" },
  failed: { word: "not delivered", tone: "bad" },
};

export function senderWord(sender: MessageSender): string {
  if (sender.type === "bot" && sender.spoken_by) return `${sender.name} (sent by ${sender.spoken_by})`;
  return sender.name;
}

export function recipientWord(recipient: MessageRecipient): string {
  switch (recipient.type) {
    case "direct":
      return recipient.bot;
    case "channel":
      return `#${recipient.name}`;
    case "sender":
      return recipient.name;
  }
}

export type Thread = { id: string; messages: readonly BotMessage[] };

/** Group messages by conversation, oldest first; the thread with the newest message comes first. */
export function threadsOf(newestFirst: readonly BotMessage[]): Thread[] {
  const threads = new Map<string, BotMessage[]>();
  for (const message of newestFirst) {
    const others = threads.get(message.conversation_id);
    if (others) others.unshift(message);
    else threads.set(message.conversation_id, [message]);
  }
  return [...threads].map(([id, messages]) => ({ id, messages }));
}

/** The other bots in these messages, sorted by name. */
export function othersOf(messages: readonly BotMessage[], slug: string): string[] {
  const found = messages.flatMap(({ sender, recipient }) => [
    ...(sender.type === "bot" ? [sender.slug] : []),
    ...(recipient.type === "direct" ? [recipient.bot] : []),
  ]);
  return [...new Set(found)].filter((other) => other !== slug).sort();
}
