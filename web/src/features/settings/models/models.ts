/** Queries and mutations of the model settings. */
import {
  infiniteQueryOptions,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { accepted, http, type Page, unwrap, unwrapPage } from "@/api/client";
import { modelsQuery } from "@/api/models";
import { secretsQuery } from "@/api/secrets";
import type { ModelCall, ModelPrice, ModelProvider, ModelRole } from "@/api/types";
import { toast } from "@/ui/toast";

const CALLS = "model-calls";
const CALLS_A_PAGE = 20;

export const callsQuery = infiniteQueryOptions({
  queryKey: [CALLS],
  queryFn: ({ signal, pageParam }) => {
    const query = { limit: CALLS_A_PAGE, ...(pageParam && { cursor: pageParam }) };
    return unwrapPage<ModelCall>(http.GET("/api/v1/models/calls", { params: { query }, signal }));
  },
  initialPageParam: null as string | null,
  getNextPageParam: (last: Page<ModelCall>) => last.nextCursor,
});

export type RoleName = ModelRole["role"];
export type NewProvider = Pick<ModelProvider, "name" | "kind"> & {
  base_url: string | null;
  key_name: string | null;
  server: ServerKind | null;
  parallel: number | null;
};
export type ServerKind = NonNullable<ModelProvider["server"]>;
export type Probe = Awaited<ReturnType<typeof probeProvider>>;
export const SERVER_TITLE: Record<ServerKind, string> = {
  llama_cpp: "llama.cpp",
  ollama: "Ollama",
  vllm: "vLLM",
  lm_studio: "LM Studio",
};
export type NewPrice = {
  model: string;
  input: number;
  output: number;
  cache_read: number | null;
  cache_write: number | null;
  context_window: number | null;
  text_tool_calls: boolean | null;
};
export type Trial = Awaited<ReturnType<typeof testModel>>;

export const setChain = ({ role, chain }: { role: RoleName; chain: string[] }): Promise<ModelRole> =>
  unwrap(http.PUT("/api/v1/models/roles/{role}", { params: { path: { role } }, body: { chain } }));

export const resetChain = (role: RoleName): Promise<ModelRole> =>
  unwrap(http.DELETE("/api/v1/models/roles/{role}", { params: { path: { role } } }));

export const saveProvider = ({ name, ...body }: NewProvider): Promise<ModelProvider> =>
  unwrap(http.PUT("/api/v1/models/providers/{name}", { params: { path: { name } }, body }));

export const probeProvider = ({ name, model }: { name: string; model: string | null }) =>
  unwrap(http.POST("/api/v1/models/providers/{name}/probe", { params: { path: { name } }, body: { model } }));

export async function removeProvider(name: string): Promise<void> {
  await accepted(http.DELETE("/api/v1/models/providers/{name}", { params: { path: { name } } }));
}

export const setPrice = ({ model, ...body }: NewPrice): Promise<ModelPrice> =>
  unwrap(http.PUT("/api/v1/models/prices", { params: { query: { model } }, body }));

export async function removePrice(model: string): Promise<void> {
  await accepted(http.DELETE("/api/v1/models/prices", { params: { query: { model } } }));
}

export async function setBudget({ budget, usd }: { budget: "run" | "day"; usd: number }): Promise<void> {
  const params = { path: { budget } };
  await accepted(http.PUT("/api/v1/models/budgets/{budget}", { params, body: { limit_usd: usd } }));
}

export const testModel = (model: string) => unwrap(http.POST("/api/v1/models/test", { body: { model } }));

/** A mutation of the model settings: shows a toast, refetches everything, and leaves errors to the form. */
export function useChange<Given, Got>(
  change: (given: Given) => Promise<Got>,
  { done, after }: { done?: string; after?: (got: Got, given: Given) => void } = {},
): UseMutationResult<Got, Error, Given> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    meta: { isShownInPlace: true },
    onSuccess: (got, given) => {
      after?.(got, given);
      if (done) toast.ok(done);
    },
    onSettled: () =>
      Promise.all(
        [modelsQuery.queryKey, [CALLS], secretsQuery.queryKey].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  });
}
