import { Scale, SquareCheckBig } from "lucide-react";
import { AUDIT } from "@/api/audits";
import type { Area } from "@/area";
import { auditsRoute } from "./routes";

export const audits = {
  label: "Audits",
  routes: [auditsRoute],
  nav: { to: "/audits", icon: Scale, key: "a", kind: AUDIT },
  commands: ({ go }) => [
    {
      id: "new-audit",
      label: "Audit a project",
      keywords: "new check guard boundaries dependencies secrets scope",
      icon: SquareCheckBig,
      run: () => go("/audits?new=true"),
    },
  ],
} satisfies Area;
