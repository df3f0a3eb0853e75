/** The start form: a field per declared input, and the parsing of its values. */
import { readInput, writtenOut } from "@/ui/json";
import type { Input, InputType, Json } from "../definition/model";

export type Field = {
  name: string;
  type: InputType;
  description: string;
  isRequired: boolean;
  /** As JSON, to distinguish 1 from "1". */
  options: readonly string[] | null;
};
export type Typed = Readonly<Record<string, string>>;
export type Read = { payload: Record<string, Json>; mistakes: Readonly<Record<string, string>> };

export function fieldsOf(inputs: Readonly<Record<string, Input>>): Field[] {
  return Object.entries(inputs).map(([name, input]) => ({
    name,
    type: input.type ?? "any",
    description: input.description ?? "",
    isRequired: input.required ?? false,
    options: input.enum?.map((value) => JSON.stringify(value)) ?? null,
  }));
}

/** Values without a field, which steps can read as `trigger`. */
export const othersOf = (
  inputs: Readonly<Record<string, Input>>,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(inputs, name)));

/** The initial texts of the fields: given values, or else the defaults. */
export function typedOf(
  inputs: Readonly<Record<string, Input>>,
  given: Readonly<Record<string, unknown>>,
): Typed {
  return Object.fromEntries(
    fieldsOf(inputs).map((field) => [
      field.name,
      written(field, given[field.name] ?? inputs[field.name]?.default),
    ]),
  );
}

function written({ type, options }: Field, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (options) return JSON.stringify(value);
  if (typeof value === "string" && (type === "string" || !isJson(value))) return value;
  return typeof value === "object" ? writtenOut(value) : JSON.stringify(value);
}

const isJson = (text: string): boolean => parsed(text) !== undefined;

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Omits empty values, so that the defaults apply. */
export function readTyped(fields: readonly Field[], typed: Typed): Read {
  const payload: Record<string, Json> = {};
  const mistakes: Record<string, string> = {};
  for (const field of fields) {
    const text = typed[field.name] ?? "";
    if (text.trim() === "") {
      if (field.isRequired) mistakes[field.name] = "Required.";
      continue;
    }
    const { value, mistake } = readOne(field, text);
    if (mistake !== undefined) mistakes[field.name] = mistake;
    else payload[field.name] = value;
  }
  return { payload, mistakes };
}

type One = { value: Json; mistake?: undefined } | { value?: undefined; mistake: string };

function readOne({ type, options }: Field, text: string): One {
  if (type === "string" && !options) return { value: text };
  const value = parsed(text);
  if (options) return value === undefined ? { mistake: "Choose a value." } : { value };
  switch (type) {
    case "number":
      return typeof value === "number" ? { value } : { mistake: "Must be a number." };
    case "integer":
      return Number.isInteger(value) ? { value: Number(value) } : { mistake: "Must be a whole number." };
    case "boolean":
      return typeof value === "boolean" ? { value } : { mistake: "Must be `true` or `false`." };
    case "array":
      return Array.isArray(value) ? { value } : { mistake: 'Must be a JSON list: ["one", "two"].' };
    case "object": {
      const { input, problem } = readInput(text);
      return problem === null ? { value: input as Json } : { mistake: problem };
    }
    default:
      return { value: value === undefined ? text : value };
  }
}
