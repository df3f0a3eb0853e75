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
      description="It is out of reach at once, with its conversations and memories. For 30 days it can be restored; then it is gone."
      action="Delete the bot"
      word={name}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(undefined, { onError: close })}
    />
  );
}
