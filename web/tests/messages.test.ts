import type { BotMessage } from "@/api/types";
import { othersOf, recipientWord, senderWord, threadsOf, typeWord } from "@/features/bots/messages/words";
import { time } from "./events";

const BOT = { type: "bot", bot_id: "b2", slug: "milo", name: "Milo", spoken_by: null } as const;

function message(id: string, conversation: string, changes: Partial<BotMessage> = {}): BotMessage {
  return {
    id,
    sender: { type: "person", name: "ada" },
    recipient: { type: "direct", bot: "iris", bot_id: "b1" },
    message_type: "text",
    body: "Hello",
    reply_to: null,
    conversation_id: conversation,
    depth: 0,
    created_at: time(0),
    deliveries: [],
    ...changes,
  };
}

test("messages that follow from one another are together, in the order they were said", () => {
  const newestFirst = [message("4", "a"), message("3", "b"), message("2", "a"), message("1", "a")];
  expect(threadsOf(newestFirst).map(({ id, messages }) => [id, messages.map((one) => one.id)])).toEqual([
    ["a", ["1", "2", "4"]],
    ["b", ["3"]],
  ]);
});

test("those it has written with are other bots, each once", () => {
  const found = [
    message("1", "a"),
    message("2", "a", { sender: BOT }),
    message("3", "a", { sender: BOT, recipient: { type: "direct", bot: "milo", bot_id: "b2" } }),
    message("4", "a", { recipient: { type: "channel", name: "news" } }),
  ];
  expect(othersOf(found, "iris")).toEqual(["milo"]);
});

test("sender and recipient are described", () => {
  expect(senderWord({ ...BOT, spoken_by: "ada" })).toBe("Milo (sent by ada)");
  expect(recipientWord({ type: "channel", name: "news" })).toBe("#news");
  expect(recipientWord({ type: "sender", name: "ada" })).toBe("ada");
  expect([typeWord("delegation"), typeWord("status_update")]).toEqual(["task", "status update"]);
});
