/** The form of a bot, and the requests made from it. */
import type { BotCategory, BotChange, Identity, Models, NewBot } from "@/api/types";

export type Form = {
  name: string;
  description: string;
  category: BotCategory;
  /** Separated by commas. */
  tags: string;
  /** As `provider:model`; empty for the default. */
  model: string;
  temperature: string;
  maxTokens: string;
  avatar: string;
  colour: string;
  memory: boolean;
};

export const CATEGORIES: readonly { value: BotCategory; label: string }[] = [
  { value: "assistant", label: "Assistant" },
  { value: "creative", label: "Creative" },
  { value: "research", label: "Research" },
  { value: "utility", label: "Utility" },
];

export const BLANK: Form = {
  name: "",
  description: "",
  category: "assistant",
  tags: "",
  model: "",
  temperature: "0.7",
  maxTokens: "4096",
  avatar: "",
  colour: "",
  memory: true,
};

export function formOf(identity: Identity): Form {
  const { provider, model } = identity;
  return {
    name: identity.display_name,
    description: identity.description,
    category: identity.category,
    tags: identity.tags.join(", "),
    model: provider && model ? `${provider}:${model}` : (model ?? ""),
    temperature: String(identity.temperature),
    maxTokens: String(identity.max_tokens),
    avatar: identity.avatar,
    colour: identity.colour,
    memory: identity.memory,
  };
}

export type Mistakes = Partial<Record<keyof Form, string>>;

const MAX_TOKENS = 200_000;
const MAX_TAGS = 20;
const LONGEST_TAG = 40;

export function mistakesOf(form: Form): Mistakes {
  const found: Mistakes = {};
  const temperature = Number(form.temperature);
  const tokens = Number(form.maxTokens);
  if (form.name.trim() === "") found.name = "Enter a name.";
  if (form.temperature.trim() === "" || !(temperature >= 0 && temperature <= 2)) {
    found.temperature = "Enter a number from 0 to 2.";
  }
  if (!Number.isInteger(tokens) || tokens < 1 || tokens > MAX_TOKENS) {
    found.maxTokens = "Enter a whole number from 1 to 200000.";
  }
  const tags = tagsOf(form.tags);
  if (tags.length > MAX_TAGS) found.tags = `At most ${MAX_TAGS} tags.`;
  else if (tags.some((tag) => tag.length > LONGEST_TAG)) {
    found.tags = `Tags can have at most ${LONGEST_TAG} characters.`;
  }
  return found;
}

const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

/** Split off the provider only if it is known: `llama3:8b` is a model unless a provider is called llama3. */
export function modelOf(text: string, providers: readonly string[]): { provider: string; model: string } {
  const at = text.indexOf(":");
  const provider = text.slice(0, Math.max(at, 0));
  return providers.includes(provider)
    ? { provider, model: text.slice(at + 1).trim() }
    : { provider: "", model: text.trim() };
}

type Wire = Omit<BotChange, "base_hash" | "status">;

function wireOf(form: Form, models: Models | undefined): Wire {
  return {
    name: form.name.trim(),
    description: form.description.trim(),
    category: form.category,
    tags: tagsOf(form.tags),
    ...modelOf(form.model.trim(), models?.providers.map(({ name }) => name) ?? []),
    temperature: Number(form.temperature),
    max_tokens: Number(form.maxTokens),
    avatar: form.avatar.trim() || null,
    colour: form.colour || null,
    memory: form.memory,
  };
}

/** Return only the changed fields; everything else in the file stays unchanged. */
export function changeOf(before: Form, after: Form, models: Models | undefined): Wire {
  const was = wireOf(before, models);
  const entries = Object.entries(wireOf(after, models));
  return Object.fromEntries(
    entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name as keyof Wire])),
  );
}

/** Omits unchanged fields, so that the server's defaults apply. */
export function newBotOf(form: Form, models: Models | undefined): Partial<NewBot> & Pick<NewBot, "name"> {
  const { memory: _, ...changed } = changeOf(BLANK, form, models);
  return { ...(changed as Partial<NewBot>), name: form.name.trim() };
}

/** The model used if the bot's file does not name one. */
export const defaultModel = (models: Models | undefined): string =>
  models?.roles.find(({ role }) => role === "bot")?.chain[0] ?? "from Settings, Models";
