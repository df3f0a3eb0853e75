import { Archive, ArchiveRestore, Copy, Download, Power, PowerOff, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Bot } from "@/api/types";
import { Menu, type MenuItem } from "@/ui/Menu";
import { CloneBot } from "./CloneBot";
import { DeleteBot } from "./DeleteBot";
import { useBotActions } from "./useBotActions";

export function BotMenu({ bot }: { bot: Bot }) {
  const [asked, setAsked] = useState<"clone" | "delete" | null>(null);
  const actions = useBotActions(bot);
  const close = () => setAsked(null);
  const groups: MenuItem[][] = [
    [
      { label: "Clone…", icon: Copy, run: () => setAsked("clone") },
      { label: "Export", icon: Download, run: actions.exportFile },
    ],
    statusItems(bot, actions.setStatus),
    [{ label: "Delete…", icon: Trash2, isDanger: true, run: () => setAsked("delete") }],
  ];
  return (
    <>
      <Menu label="More" groups={groups} />
      {asked === "clone" && <CloneBot bot={bot} close={close} />}
      {asked === "delete" && <DeleteBot bot={bot} close={close} />}
    </>
  );
}

function statusItems({ status }: Bot, set: (status: Bot["status"]) => void): MenuItem[] {
  const power: MenuItem =
    status === "disabled"
      ? { label: "Enable", icon: Power, run: () => set("active") }
      : { label: "Disable", icon: PowerOff, run: () => set("disabled") };
  const archive: MenuItem =
    status === "archived"
      ? { label: "Unarchive", icon: ArchiveRestore, run: () => set("active") }
      : { label: "Archive", icon: Archive, run: () => set("archived") };
  return status === "archived" ? [archive] : [power, archive];
}
