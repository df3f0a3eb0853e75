import { audits } from "@/features/audits/area";
import { bots } from "@/features/bots/area";
import { forge } from "@/features/forge/area";
import { home } from "@/features/home/area";
import { runs } from "@/features/runs/area";
import { settings } from "@/features/settings/area";
import { skills } from "@/features/skills/area";
import { workflows } from "@/features/workflows/area";
import { workspaces } from "@/features/workspaces/area";

/** The areas of Forge in sidebar order. Add new areas here. */
export const AREAS = [home, forge, bots, skills, workflows, runs, workspaces, audits, settings] as const;
