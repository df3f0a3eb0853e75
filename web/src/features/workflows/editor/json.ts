/** Values typed as JSON, or as text if they are not JSON. */
import type { Json } from "../definition/model";

type Parsed = { value: Json } | null;

function parsed(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}

/** Format a value. A string that would parse as JSON is quoted. */
export function shownJson(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return parsed(value) === null ? value : JSON.stringify(value);
  return JSON.stringify(value, null, 2);
}

/** The parsed value, or its problem. */
export type Read<Value> = { value: Value; problem: null } | { problem: string };

/** Parse a value. Incomplete objects and lists are errors; templates are text. */
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

/** Parse an object or nothing. */
export function readObject(text: string): Read<JsonObject | undefined> {
  const read = readJson(text);
  if (read.problem !== null) return read;
  const { value } = read;
  if (value === undefined || isObject(value)) return { value, problem: null };
  return { problem: 'Must be a JSON object: {"name": "value"}.' };
}

/** Parse a non-empty list or nothing. */
export function readList(text: string): Read<Json[] | undefined> {
  const read = readJson(text);
  if (read.problem !== null) return read;
  const { value } = read;
  if (value === undefined || (Array.isArray(value) && value.length > 0)) return { value, problem: null };
  return { problem: 'Must be a non-empty JSON list: ["one", "two"].' };
}
