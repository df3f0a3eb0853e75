import type { Bot } from "@/api/types";
import { Avatar } from "@/ui/Avatar";
import { examplesOf } from "./words";

/** Shown before the first message: the bot and three suggestions. */
export function Welcome({ bot, say }: { bot: Bot; say: ((text: string) => void) | null }) {
  const { display_name, description } = bot.identity;
  return (
    <div className="m-auto flex max-w-[520px] flex-col items-center gap-4 px-4 py-10 text-center">
      <Avatar of={bot.identity} />
      <div>
        <h2 className="text-lg font-semibold break-words">{display_name}</h2>
        <p className="mt-1 break-words text-dim">{description || "This bot has no description yet."}</p>
      </div>
      {say && (
        <ul aria-label="Suggestions" className="flex w-full flex-col gap-1.5">
          {examplesOf(bot.identity).map((example) => (
            <li key={example}>
              <button
                type="button"
                onClick={() => say(example)}
                className="w-full rounded-md border border-line bg-surface px-3 py-2 text-left break-words hover:border-strong hover:bg-raised"
              >
                {example}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
