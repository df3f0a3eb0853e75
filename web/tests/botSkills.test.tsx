/** The skills of a bot: those of an answer, as chips; those it has, as rows with what can be done to them. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import type { ReactNode } from "react";
import type { BotSkill } from "@/api/types";
import { SkillsUsed } from "@/features/bots/chat/SkillsUsed";
import { AttachSkill } from "@/features/bots/skills/AttachSkill";
import { SkillRow } from "@/features/bots/skills/SkillRow";
import { changeOf, setupOf, wrongLine } from "@/features/bots/skills/setup";
import { use } from "./chatEvents";
import { serve } from "./server";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children }: { children: ReactNode }) => <a href="/skills">{children}</a>,
  useNavigate: () => () => undefined,
}));

const skill = (changes: Partial<BotSkill> = {}): BotSkill => ({
  name: "weather",
  enabled: true,
  is_offered: true,
  description: "Knows the weather.",
  kind: "script",
  version: "1.2.0",
  pin: null,
  state: "ready",
  problem: null,
  tier: "untrusted",
  capabilities: ["http_get", "kv"],
  granted: ["http_get", "kv"],
  narrowed: null,
  overrides: {},
  ...changes,
});

const show = (page: ReactNode) =>
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      {page}
    </QueryClientProvider>,
  );
const sent = async (requests: Request[], method: string) => {
  const [request] = requests.filter((one) => one.method === method);
  return request && [new URL(request.url).pathname, request.body && (await request.clone().json())];
};

describe("of an answer", () => {
  test("each use is a chip that unfolds to what went in and came out", async () => {
    show(<SkillsUsed uses={[use(), use({ id: "2", state: "failed", output: "No network." })]} isWriting />);
    const [done, failed] = screen.getAllByRole("listitem");
    expect(done).toHaveTextContent(/ran.*weather.*ok.*12ms/);
    expect(done).toHaveTextContent(/Input.*"city":"Oslo".*Output.*"celsius":3/);
    expect(failed).toHaveTextContent(/failed.*Error.*No network\./);
  });

  test("what still ran when the answer ended was stopped", () => {
    const running = use({ state: "running", output: "", duration_ms: null });
    const { rerender } = show(<SkillsUsed uses={[running]} isWriting />);
    expect(screen.getByRole("listitem")).toHaveTextContent("running");
    rerender(<SkillsUsed uses={[running]} isWriting={false} />);
    expect(screen.getByRole("listitem")).toHaveTextContent("stopped");
  });

  test("text of a skill is never markup", () => {
    show(<SkillsUsed uses={[use({ output: "<b>bold</b> **x**" })]} isWriting={false} />);
    expect(screen.getByText("<b>bold</b> **x**")).toBeInTheDocument();
  });
});

describe("of a bot", () => {
  test("a skill is switched off, pinned and detached", async () => {
    const requests = serve({
      "PATCH /api/v1/bots/iris/skills/weather": { data: skill({ enabled: false }) },
      "DELETE /api/v1/bots/iris/skills/weather": { data: skill() },
    });
    show(<SkillRow slug="iris" skill={skill()} />);
    await userEvent.click(screen.getByRole("checkbox", { name: "Use weather" }));
    expect(await sent(requests, "PATCH")).toEqual(["/api/v1/bots/iris/skills/weather", { enabled: false }]);
    requests.length = 0;
    await userEvent.click(screen.getByRole("button", { name: "Actions for weather" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Pin to 1.2.0" }));
    expect(await sent(requests, "PATCH")).toEqual(["/api/v1/bots/iris/skills/weather", { version: "1.2.0" }]);
    await userEvent.click(screen.getByRole("button", { name: "Actions for weather" }));
    await userEvent.click(screen.getByRole("menuitem", { name: "Detach" }));
    await waitFor(async () =>
      expect(await sent(requests, "DELETE")).toEqual(["/api/v1/bots/iris/skills/weather", null]),
    );
  });

  test("what keeps it away, what it may not do and which version is wanted are said", () => {
    const problem = "skills.toml requires version ^2, but the library has 1.2.0.";
    show(
      <SkillRow
        slug="iris"
        skill={skill({ is_offered: false, problem, pin: "^2", granted: ["kv"], narrowed: ["log"] })}
      />,
    );
    const row = screen.getByRole("listitem", { name: "" });
    expect(row).toHaveTextContent(problem);
    expect(row).toHaveTextContent("1.2.0, pinned to ^2");
    expect(row).toHaveTextContent("not used");
    const asks = screen.getByRole("list", { name: "Capabilities" });
    expect(within(asks).getByText("http_get").tagName).toBe("S");
    expect(asks).toHaveTextContent("http_get, not grantedkv, disabled for this bot");
  });

  test("one of the library is attached; those it has are not offered", async () => {
    const card = { description: "Says it in short.", categories: [], problem: null };
    const requests = serve({
      "GET /api/v1/skills": {
        data: [
          { name: "summarize", ...card },
          { name: "weather", ...card },
        ],
      },
      "POST /api/v1/bots/iris/skills": { status: 201, data: skill({ name: "summarize" }) },
    });
    show(<AttachSkill slug="iris" attached={["weather"]} close={() => undefined} />);
    await userEvent.click(await screen.findByRole("button", { name: "Attach summarize" }));
    expect(screen.queryByRole("button", { name: "Attach weather" })).toBeNull();
    expect(await sent(requests, "POST")).toEqual(["/api/v1/bots/iris/skills", { skill_name: "summarize" }]);
  });
});

describe("set up", () => {
  const own = skill({
    pin: "^1",
    overrides: { origin: "builder-created", description: "Mine.", region: "north", url: "a=b" },
    narrowed: ["kv"],
  });

  test("a form has what the file says, and says what was changed", () => {
    const setup = setupOf(own);
    expect(setup).toEqual({
      version: "^1",
      description: "Mine.",
      settings: "region = north\nurl = a=b",
      allowed: ["kv"],
    });
    expect(changeOf(setup, own)).toEqual({
      version: "^1",
      overrides: own.overrides,
      capabilities: ["kv"],
    });
    expect(changeOf({ version: " ", description: "", settings: "\n", allowed: null }, own)).toEqual({
      version: null,
      overrides: { origin: "builder-created" },
      capabilities: null,
    });
  });

  test("allowing nothing is not allowing all", () => {
    expect(changeOf({ ...setupOf(own), allowed: [] }, own).capabilities).toEqual(["log"]);
  });

  test("a line without an equals sign is pointed at", () => {
    expect(wrongLine("a = 1\n\n b=2")).toBeNull();
    expect(wrongLine("a = 1\nnorth")).toBe("north");
    expect(wrongLine("= 1")).toBe("= 1");
  });
});
