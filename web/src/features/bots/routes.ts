import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { botQuery } from "@/api/bots";
import { shellRoute } from "@/area";
import { readShelf } from "./grid/shelf";
import { readPlace } from "./soul/place";

export const botsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/bots",
  validateSearch: readShelf,
  component: lazyRouteComponent(() => import("./grid/BotsPage"), "BotsPage"),
});

const frameRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/bots/$slug",
  loader: ({ context, params }) => context.queries.ensureQueryData(botQuery(params.slug)),
  remountDeps: ({ params }) => params.slug,
  component: lazyRouteComponent(() => import("./page/BotPage"), "BotPage"),
});

const indexRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/bots/$slug/chat/{-$sessionId}", params, replace: true });
  },
});

/** One route with and without a conversation, so that the page stays mounted when the first question creates one. */
const chatRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/chat/{-$sessionId}",
  component: lazyRouteComponent(() => import("./page/ChatPage"), "ChatPage"),
});

const soulRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/soul",
  validateSearch: readPlace,
  component: lazyRouteComponent(() => import("./soul/SoulTab"), "SoulTab"),
});

const memoryRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/memory",
  component: lazyRouteComponent(() => import("./memory/MemoryTab"), "MemoryTab"),
});

const skillsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/skills",
  component: lazyRouteComponent(() => import("./skills/SkillsTab"), "SkillsTab"),
});

const messagesRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/messages",
  component: lazyRouteComponent(() => import("./messages/MessagesTab"), "MessagesTab"),
});

const settingsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("./settings/SettingsTab"), "SettingsTab"),
});

export const botRoute = frameRoute.addChildren([
  indexRoute,
  chatRoute,
  soulRoute,
  memoryRoute,
  skillsRoute,
  messagesRoute,
  settingsRoute,
]);
