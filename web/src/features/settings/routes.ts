import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "@/area";

const layoutRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("./SettingsLayout"), "SettingsLayout"),
});

const accountRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./AccountPage"), "AccountPage"),
});

const modelsRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/models",
  component: lazyRouteComponent(() => import("./models/ModelsPage"), "ModelsPage"),
});

const githubRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/github",
  component: lazyRouteComponent(() => import("./GithubPage"), "GithubPage"),
});

const teamRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/team",
  component: lazyRouteComponent(() => import("./team/TeamPage"), "TeamPage"),
});

const keysRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/keys",
  component: lazyRouteComponent(() => import("./KeysPage"), "KeysPage"),
});

const secretsRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/secrets",
  component: lazyRouteComponent(() => import("./SecretsPage"), "SecretsPage"),
});

const registriesRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/registries",
  component: lazyRouteComponent(() => import("./RegistriesPage"), "RegistriesPage"),
});

const memoryRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/memory",
  component: lazyRouteComponent(() => import("./MemoryPage"), "MemoryPage"),
});

const aboutRoute = createRoute({
  getParentRoute: () => layoutRoute,
  path: "/about",
  component: lazyRouteComponent(() => import("./AboutPage"), "AboutPage"),
});

export const settingsRoute = layoutRoute.addChildren([
  accountRoute,
  modelsRoute,
  githubRoute,
  teamRoute,
  keysRoute,
  secretsRoute,
  registriesRoute,
  memoryRoute,
  aboutRoute,
]);
