import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { ApiError } from "@/api/client";
import type { ModelProvider, ModelRole, Models } from "@/api/types";
import { endOf } from "@/features/settings/models/Calls";
import { ChainForm, moved, withoutPrice } from "@/features/settings/models/ChainForm";
import { ProbeDialog } from "@/features/settings/models/ProbeDialog";
import { ProviderForm } from "@/features/settings/models/ProviderForm";
import { modelOf } from "@/features/settings/models/Providers";
import { TestDialog } from "@/features/settings/models/TestDialog";
import { formatMicros, formatPrice, formatTokens } from "@/ui/money";
import { serve } from "./server";

const provider = (name: string): ModelProvider => ({
  name,
  kind: "openai",
  base_url: null,
  key_name: null,
  built_in: false,
  is_shared: false,
  has_key: true,
  last_four: "",
});
const role: ModelRole = {
  role: "builder",
  chain: ["claude-opus-4-6", "local:tiny"],
  source: "account",
  prices: [],
  problem: null,
};
const price = {
  input: 1,
  output: 2,
  cache_read: 1,
  cache_write: 1,
  context_window: 8000,
  overridden: true,
  detected: false,
};
const models: Models = {
  providers: ["anthropic", "local", "spare", "unused"].map(provider),
  roles: [role],
  prices: { "spare:one": price },
  budgets: [],
  today_by_model: {},
  known: [],
};

function show(dialog: React.ReactNode) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(<QueryClientProvider client={client}>{dialog}</QueryClientProvider>);
}

test("money has as many digits as tell something", () => {
  const amounts = [0, 20, 4_200, 20_000, 420_000, 12_500_000, 1_204_000_000];
  expect(amounts.map(formatMicros)).toEqual([
    "$0",
    "< $0.0001",
    "$0.0042",
    "$0.02",
    "$0.42",
    "$12.50",
    "$1,204",
  ]);
  expect([0, 0.3, 3.75, 15].map(formatPrice)).toEqual(["$0", "$0.3", "$3.75", "$15"]);
});

test("tokens are counted in thousands and millions", () => {
  expect([0, 999, 1000, 12_400, 128_000, 1_200_000].map(formatTokens)).toEqual([
    "0",
    "999",
    "1k",
    "12.4k",
    "128k",
    "1.2M",
  ]);
});

test("a model moves by one place and the others keep their order", () => {
  expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
  expect(moved(["a", "b", "c"], 0, 1)).toEqual(["b", "a", "c"]);
});

test("a price is asked for only where the provider is known", () => {
  const error = new ApiError(404, { code: "model_unknown", message: "Nobody knows", field: "chain.1" });
  expect(withoutPrice(error, ["x", "local:big"], models)).toBe("local:big");
  expect(withoutPrice(error, ["x", "claude-new"], models)).toBe("claude-new");
  expect(withoutPrice(error, ["x", "nobody:big"], models)).toBeNull();
  expect(withoutPrice(new Error("no"), ["x", "local:big"], models)).toBeNull();
});

test("a provider is tested with a model in use, else with one that has a price", () => {
  expect(models.providers.map((one) => modelOf(one, models))).toEqual([
    "anthropic:claude-opus-4-6",
    "local:tiny",
    "spare:one",
    "",
  ]);
});

test("a call says how it ended", () => {
  expect(endOf({ status: "settled", stop: "tools", error: null })).toBe("tools");
  expect(endOf({ status: "failed", stop: null, error: "model_fault" })).toBe("model fault");
  expect(endOf({ status: "lost", stop: null, error: "process died" })).toBe("process died");
  expect(endOf({ status: "open", stop: null, error: null })).toBe("in progress");
});

test("the order of a chain is what is saved", async () => {
  const requests = serve({ "PUT /api/v1/models/roles/builder": { data: role } });
  const close = vi.fn();
  show(<ChainForm role={role} models={models} suggestions="" close={close} />);
  await userEvent.click(screen.getByRole("button", { name: "Move Fallback 1 up" }));
  await userEvent.click(screen.getByRole("button", { name: "Add a fallback" }));
  expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
  await userEvent.type(screen.getByLabelText("Fallback 2"), " openai:gpt-5 ");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(close).toHaveBeenCalled());
  expect(await requests[0]?.json()).toEqual({ chain: ["local:tiny", "claude-opus-4-6", "openai:gpt-5"] });
});

test("a model without a price gets one, and the chain is still there", async () => {
  const requests = serve({
    "PUT /api/v1/models/roles/builder": {
      status: 404,
      errors: [{ code: "model_unknown", message: "Nobody knows what local:tiny costs.", field: "chain.1" }],
    },
    "PUT /api/v1/models/prices": { data: price },
  });
  show(<ChainForm role={role} models={models} suggestions="" close={vi.fn()} />);
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("Nobody knows what local:tiny costs.");
  expect(screen.getByLabelText("Fallback 1")).toHaveAttribute("aria-invalid", "true");
  await userEvent.click(screen.getByRole("button", { name: "Set a price for local:tiny" }));
  await userEvent.type(screen.getByLabelText("Input"), "0");
  await userEvent.type(screen.getByLabelText("Output"), "0.5");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByLabelText("Fallback 1")).toHaveValue("local:tiny");
  expect(screen.queryByRole("alert")).toBeNull();
  const said = requests.at(-1);
  expect(new URL(said?.url ?? "").searchParams.get("model")).toBe("local:tiny");
  expect(await said?.json()).toEqual({
    input: 0,
    output: 0.5,
    cache_read: null,
    cache_write: null,
    context_window: null,
    text_tool_calls: null,
  });
});

test("a test that is certain asks at once, and shows what came of it", async () => {
  const trial = { model: "local:tiny", ok: true, answer: "ready", latency_ms: 1234, cost_micros: 420 };
  const requests = serve({ "POST /api/v1/models/test": { data: trial } });
  show(<TestDialog model="local:tiny" isCertain suggestions="" close={vi.fn()} />);
  expect(await screen.findByText("ready")).toBeInTheDocument();
  expect(screen.getByText("1.2s")).toBeInTheDocument();
  expect(screen.getByText("$0.0004")).toBeInTheDocument();
  expect(requests.filter(({ method }) => method === "POST")).toHaveLength(1);
});

test("a test that fails says what to do", async () => {
  const trial = { model: "a", ok: false, latency_ms: 0, message: "There is no key.", hint: "Set it." };
  serve({ "POST /api/v1/models/test": { data: trial } });
  show(<TestDialog model="" isCertain={false} suggestions="" close={vi.fn()} />);
  await userEvent.type(screen.getByLabelText("Model"), "claude-opus-4-6");
  await userEvent.click(screen.getByRole("button", { name: "Test" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("There is no key.Set it.");
});

test("a local server needs only its name, and is tested after it was saved", async () => {
  const saved = { ...provider("mine"), server: "ollama", base_url: "http://127.0.0.1:11434/v1", parallel: 1 };
  const requests = serve({ "PUT /api/v1/models/providers/mine": { data: saved } });
  const onSaved = vi.fn();
  show(<ProviderForm provider={null} close={vi.fn()} onSaved={onSaved} />);
  await userEvent.type(screen.getByLabelText("Name"), "mine");
  await userEvent.selectOptions(screen.getByLabelText("Server"), "Ollama");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(onSaved).toHaveBeenCalledWith(saved));
  expect(await requests[0]?.json()).toEqual({
    kind: "openai",
    base_url: null,
    key_name: null,
    server: "ollama",
    parallel: null,
  });
});

test("a tested provider shows its models and what one of them can do", async () => {
  const probe = {
    provider: { ...provider("local"), server: "llama_cpp", parallel: 1 },
    models: [{ name: "tiny", context_window: 8192, is_loaded: true }, { name: "large" }],
    priced: ["local:tiny"],
    trial: {
      model: "local:tiny",
      tools: "text",
      schema_support: true,
      first_token_ms: 1200,
      tokens_per_second: 9.5,
    },
  };
  const requests = serve({ "POST /api/v1/models/providers/local/probe": { data: probe } });
  show(<ProbeDialog provider={provider("local")} close={vi.fn()} />);
  expect(await screen.findByText("llama.cpp")).toBeInTheDocument();
  expect(screen.getByText("8,192 tokens, loaded")).toBeInTheDocument();
  expect(screen.getByText("context window not reported")).toBeInTheDocument();
  expect(screen.getByText("9.5 tokens/s")).toBeInTheDocument();
  expect(screen.getByText("written as text, not as calls")).toBeInTheDocument();
  await userEvent.type(screen.getByLabelText("Model"), "large");
  await userEvent.click(screen.getByRole("button", { name: "Test again" }));
  await waitFor(() => expect(requests).toHaveLength(2));
  expect(await requests[1]?.json()).toEqual({ model: "large" });
});

test("a provider that does not answer says what to do", async () => {
  const probe = { provider: provider("local"), problem: "It cannot be reached.", hint: "Start it." };
  serve({ "POST /api/v1/models/providers/local/probe": { data: probe } });
  show(<ProbeDialog provider={provider("local")} close={vi.fn()} />);
  expect(await screen.findByRole("alert")).toHaveTextContent("It cannot be reached.Start it.");
});
