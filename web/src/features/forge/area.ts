import { Hammer, Sparkles } from "lucide-react";
import { draftsQuery } from "@/api/builder";
import type { Area, AreaCommand, ShellActions } from "@/area";
import { interviewRoute, startRoute } from "./routes";
import { nameOf } from "./words";

export const forge = {
  label: "Forge",
  routes: [startRoute, interviewRoute],
  nav: { to: "/forge", icon: Hammer, key: "f", kind: "interview" },
  commands: (shell) => [
    wish(shell, "forge-bot", "Create a bot with Forge", "/forge"),
    wish(shell, "forge-skill", "Create a skill with Forge", "/forge?mode=skill"),
    ...begun(shell),
  ],
} satisfies Area;

function wish({ go }: ShellActions, id: string, label: string, to: string): AreaCommand {
  const keywords = "new make describe interview wizard assistant builder";
  return { id, label, keywords, icon: Sparkles, run: () => go(to) };
}

/** Only drafts that are already cached. */
function begun({ go, queries }: ShellActions): AreaCommand[] {
  const drafts = queries.getQueryData(draftsQuery.queryKey) ?? [];
  return drafts.map((draft) => ({
    id: draft.session_id,
    label: `Continue ${nameOf(draft)}`,
    keywords: "draft resume interview",
    icon: Hammer,
    run: () => go(`/forge/${draft.session_id}`),
  }));
}
