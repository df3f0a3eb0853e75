/** Any value as a person types it: JSON where it is JSON, else a text. */
import type { Json } from "../definition/model";

type Parsed = { value: Json } | null;

function parsed(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}

/** What stands in the field. A text that would be read as something else is in quotes. */
export function shownJson(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return parsed(value) === null ? value : JSON.stringify(value);
  return JSON.stringify(value, null, 2);
}

/** What a text means, or what is wrong with it. */
export type Read<Value> = { value: Value; problem: null } | { problem: string };

/** What was meant. What begins like an object or a list but is none is a mistake; a template is a text. */
export function readJson(text: string): Read<Json | undefined> {
  const trimmed = text.trim();
  if (trimmed === "") return { value: undefined, problem: null };
  const found = parsed(trimmed);
  if (found) return { value: found.value, problem: null };
  const isMeant = trimmed.startsWith("[") || (trimmed.startsWith("{") && !trimmed.startsWith("{{"));
  if (isMeant) return { problem: 'Invalid JSON. Put templates in quotes: "{{ … }}".' };
  return { value: text, problem: null };
}

type JsonObject = { [key: string]: Json };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object or nothing. */
export function readObject(text: string): Read<JsonObject | undefined> {
  const read = readJson(text);
  if (read.problem !== null) return read;
  const { value } = read;
  if (value === undefined || isObject(value)) return { value, problem: null };
  return { problem: 'Must be a JSON object: {"name": "value"}.' };
}

/** A list that has something in it, or nothing. */
export function readList(text: string): Read<Json[] | undefined> {
  const read = readJson(text);
  if (read.problem !== null) return read;
  const { value } = read;
  if (value === undefined || (Array.isArray(value) && value.length > 0)) return { value, problem: null };
  return { problem: 'Must be a non-empty JSON list: ["one", "two"].' };
}
