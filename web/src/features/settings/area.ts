import { Settings } from "lucide-react";
import type { Area } from "@/area";
import { settingsRoute } from "./routes";
import { TABS } from "./tabs";

export const settings = {
  label: "Settings",
  routes: [settingsRoute],
  nav: { to: "/settings", icon: Settings, key: "," },
  commands: ({ go }) =>
    TABS.map(({ to, label, icon, keywords }) => ({
      id: to,
      label: `Settings: ${label}`,
      icon,
      keywords,
      run: () => go(to),
    })),
} satisfies Area;
