import { Cpu, GitBranch, History, Info, KeyRound, Library, Lock, User, Users } from "lucide-react";

/** The settings pages, for the tabs and the palette. */
export const TABS = [
  { to: "/settings", label: "Account", icon: User, keywords: "name sign out theme dark light" },
  {
    to: "/settings/models",
    label: "Models",
    icon: Cpu,
    keywords: "anthropic openai ollama price budget cost",
  },
  {
    to: "/settings/github",
    label: "GitHub",
    icon: GitBranch,
    keywords: "connect token sign in permissions repository",
  },
  {
    to: "/settings/team",
    label: "Team",
    icon: Users,
    keywords: "members invite remove share provider budget skills",
  },
  { to: "/settings/keys", label: "API keys", icon: KeyRound, keywords: "token create revoke" },
  { to: "/settings/secrets", label: "Secrets", icon: Lock, keywords: "vault password anthropic github" },
  {
    to: "/settings/registries",
    label: "Registries",
    icon: Library,
    keywords: "skills index add refresh install",
  },
  {
    to: "/settings/memory",
    label: "Forge’s memory",
    icon: History,
    keywords: "interview remembered forget last time",
  },
  { to: "/settings/about", label: "About", icon: Info, keywords: "version database worker health" },
] as const;
