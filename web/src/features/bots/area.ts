import { Bot as BotIcon, BotMessageSquare } from "lucide-react";
import { botsQuery } from "@/api/bots";
import type { Area, AreaCommand, ShellActions } from "@/area";
import { botRoute, botsRoute } from "./routes";

export const bots = {
  label: "Bots",
  routes: [botsRoute, botRoute],
  nav: { to: "/bots", icon: BotIcon, key: "b", kind: "chat" },
  commands: (shell) => [create(shell), ...known(shell)],
} satisfies Area;

function create({ go }: ShellActions): AreaCommand {
  return {
    id: "new-bot",
    label: "New bot",
    keywords: "create bot assistant persona soul",
    icon: BotMessageSquare,
    run: () => go("/bots?new=true"),
  };
}

/** Only bots that are already cached: the palette makes no requests. */
function known({ go, queries }: ShellActions): AreaCommand[] {
  const found = queries.getQueryData(botsQuery({}).queryKey) ?? [];
  return found.map(({ id, slug, identity }) => ({
    id,
    label: identity.display_name,
    keywords: `bot chat ${slug} ${identity.tags.join(" ")}`,
    icon: BotIcon,
    run: () => go(`/bots/${slug}/chat`),
  }));
}
