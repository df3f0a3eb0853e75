import type { Bot } from "@/api/types";
import { Confirm } from "@/ui/Confirm";
import { useBotActions } from "./useBotActions";

export function DeleteBot({ bot, close }: { bot: Bot; close: () => void }) {
  const { remove } = useBotActions(bot);
  const name = bot.identity.display_name;
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Delete ${name}?`}
      description="The bot, its conversations and memories become unavailable immediately. It can be restored for 30 days."
      action="Delete bot"
      word={name}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(undefined, { onError: close })}
    />
  );
}
