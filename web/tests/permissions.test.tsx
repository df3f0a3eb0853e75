import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { Suspense } from "react";
import type { SkillDetail } from "@/api/types";
import { PermissionsTab } from "@/features/skills/grants/PermissionsTab";
import { serve } from "./server";
import { ask, detail, grant, scope } from "./skillViews";

const ME = { account: { id: "a", name: "ada" }, scopes: ["read", "write", "admin"] };
const ASKS = [ask("http_get", { scope: scope({ hosts: ["a.example"] }) }), ask("kv")];

/** The tab as it is on its page, of a server that knows this skill. */
function open(skill: SkillDetail, answers: Parameters<typeof serve>[0] = {}, scopes = ME.scopes): Request[] {
  const requests = serve({
    "GET /api/v1/me": { data: { ...ME, scopes } },
    "GET /api/v1/skills/weather": { data: skill },
    ...answers,
  });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: "shell" });
  const tab = createRoute({
    getParentRoute: () => shell,
    path: "/skills/$name/permissions",
    component: () => (
      <Suspense>
        <PermissionsTab />
      </Suspense>
    ),
  });
  const history = createMemoryHistory({ initialEntries: ["/skills/weather/permissions"] });
  const router = createRouter({ routeTree: root.addChildren([shell.addChildren([tab])]), history });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return requests;
}

const sent = async (requests: readonly Request[], method: string): Promise<unknown> => {
  const found = await waitFor(() => {
    const last = requests.findLast((request) => request.method === method);
    expect(last).toBeDefined();
    return last;
  });
  return found?.json();
};

test("what is allowed goes out all at once, for the folder that was looked at", async () => {
  const user = userEvent.setup();
  const skill = detail({ asks: ASKS, state: "review", problem: "It asks for what nobody granted." });
  const after = detail({ asks: ASKS, grants: [grant("http_get")], granted: ["http_get"] });
  const requests = open(skill, { "PUT /api/v1/skills/weather/grants": { data: after } });
  const save = await screen.findByRole("button", { name: "Revoke all" });
  expect(save).toBeDisabled();
  await waitFor(() => expect(screen.getByRole("checkbox", { name: "use http_get" })).toBeEnabled());
  await user.click(screen.getByRole("checkbox", { name: "use http_get" }));
  await user.type(screen.getByRole("textbox", { name: "Hosts" }), "https://B.example/{Enter}");
  await user.click(screen.getByRole("button", { name: "Grant 1" }));
  expect(await sent(requests, "PUT")).toEqual({
    grants: [{ capability: "http_get", scope: scope({ hosts: ["a.example", "b.example"] }) }],
    folder_hash: "now",
  });
});

test("a host that is none is not taken, and says why", async () => {
  const user = userEvent.setup();
  open(detail({ asks: ASKS }));
  await waitFor(() => expect(screen.getByRole("checkbox", { name: "use http_get" })).toBeEnabled());
  await user.click(screen.getByRole("checkbox", { name: "use http_get" }));
  const hosts = screen.getByRole("textbox", { name: "Hosts" });
  await user.type(hosts, "not a host{Enter}");
  expect(hosts).toBeInvalid();
  expect(hosts).toHaveValue("not a host");
  await user.clear(hosts);
  await user.keyboard("{Backspace}");
  expect(screen.getByText("Not granted without a host.")).toBeInTheDocument();
});

test("an edited skill says that nothing counts, and can be granted again", async () => {
  const skill = detail({
    asks: ASKS,
    state: "review",
    grants: [grant("kv", { folder_hash: "then" })],
    granted: [],
  });
  open(skill);
  expect(await screen.findByText(/edited since the last grant/)).toBeInTheDocument();
  expect(screen.getByText("edited since")).toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole("button", { name: "Grant 1" })).toBeEnabled());
});

test("a skill that changed meanwhile is loaded again instead of granted", async () => {
  const user = userEvent.setup();
  let isEdited = false;
  const now = detail({ asks: [...ASKS, ask("read_env")], folder_hash: "later" });
  open(detail({ asks: ASKS }), {
    "GET /api/v1/skills/weather": () => ({ data: isEdited ? now : detail({ asks: ASKS }) }),
    "PUT /api/v1/skills/weather/grants": () => {
      isEdited = true;
      return { status: 409, errors: [{ code: "skill_changed", message: "It is another now." }] };
    },
  });
  await waitFor(() => expect(screen.getByRole("checkbox", { name: "use kv" })).toBeEnabled());
  await user.click(screen.getByRole("checkbox", { name: "use kv" }));
  await user.click(screen.getByRole("button", { name: "Grant 1" }));
  expect(await screen.findByRole("checkbox", { name: "use read_env" })).not.toBeChecked();
  expect(screen.getByRole("checkbox", { name: "use kv" })).not.toBeChecked();
});

test("whoever may not grant may still revoke", async () => {
  const user = userEvent.setup();
  let isRevoked = false;
  const skill = detail({ asks: ASKS, grants: [grant("kv")], granted: ["kv"] });
  const answers = {
    "GET /api/v1/skills/weather": () => ({ data: isRevoked ? detail({ asks: ASKS }) : skill }),
    "DELETE /api/v1/skills/weather/grants/kv": () => {
      isRevoked = true;
      return { data: detail({ asks: ASKS }) };
    },
  };
  open(skill, answers, ["read", "write"]);
  const list = await screen.findByRole("list", { name: "Requested capabilities" });
  expect(screen.getByRole("checkbox", { name: "use kv" })).toBeDisabled();
  expect(within(list).getByText("granted")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Revoke kv" }));
  await waitFor(() => expect(within(list).queryByText("granted")).not.toBeInTheDocument());
});
