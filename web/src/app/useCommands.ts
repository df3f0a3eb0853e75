import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Keyboard, SunMoon } from "lucide-react";
import type { Area } from "@/area";
import type { Command } from "@/ui/CommandPalette";
import { flipTheme } from "@/ui/theme";
import { AREAS } from "./areas";
import type { Overlay } from "./overlay";

/** The commands of the palette, computed when it opens: navigation, the areas' commands and the shell's own. */
export function useCommands(show: (overlay: Overlay) => void): () => Command[] {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const go = (to: string) => void navigate({ to });
  return () => {
    const areas: readonly Area[] = AREAS;
    return [
      ...areas.map((area) => goTo(area, go)),
      ...areas.flatMap((area) =>
        (area.commands?.({ go, queries }) ?? []).map((command) => ({ group: area.label, ...command })),
      ),
      ...shellCommands(show),
    ];
  };
}

function goTo({ label, nav }: Area, go: (to: string) => void): Command {
  return {
    id: `go-${nav.to}`,
    label,
    group: "Go to",
    icon: nav.icon,
    keys: `g ${nav.key}`,
    run: () => go(nav.to),
  };
}

function shellCommands(show: (overlay: Overlay) => void): Command[] {
  return [
    {
      id: "theme",
      label: "Toggle light and dark theme",
      keywords: "theme appearance night",
      group: "Everywhere",
      icon: SunMoon,
      run: flipTheme,
    },
    {
      id: "help",
      label: "Keyboard shortcuts",
      keywords: "help keys",
      group: "Everywhere",
      icon: Keyboard,
      keys: "?",
      run: () => show("help"),
    },
  ];
}
