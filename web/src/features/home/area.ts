import { useQuery } from "@tanstack/react-query";
import { Home } from "lucide-react";
import { openGatesQuery } from "@/api/gates";
import type { Area } from "@/area";
import { homeRoute } from "./routes";

export const home = {
  label: "Home",
  routes: [homeRoute],
  nav: { to: "/", icon: Home, key: "h", useCount: () => useQuery(openGatesQuery).data?.length ?? 0 },
} satisfies Area;
