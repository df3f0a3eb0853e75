/** Renames a step everywhere it is used: in lists of steps, templates and conditions. */
import type { Config, Definition, Json, Step } from "./model";
import { renamingAll } from "./steps";

const ID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why the ID is invalid; null if it is valid. */
export function wrongId(definition: Definition, id: string, own: string): string | null {
  if (id === own) return null;
  if (!ID.test(id)) return "Start with a letter or _, then letters, digits, _ and -; at most 64 characters.";
  return definition.steps.some((step) => step.id === id) ? "A step with this id already exists." : null;
}

/** How expressions refer to a step: an ID with a hyphen would be parsed as a subtraction. */
export const spoken = (id: string): string =>
  PLAIN.test(id) ? `steps.${id}` : `steps[${JSON.stringify(id)}]`;

export function renamed(definition: Definition, from: string, to: string): Definition {
  if (from === to) return definition;
  const named = renamingAll(definition, (id) => (id === from ? to : id));
  const say: Say = {
    template: (text) => inTemplate(text, from, to),
    expression: (text) => inExpression(text, from, to),
  };
  return {
    ...named,
    steps: named.steps.map((step) => saying(step.id === from ? { ...step, id: to } : step, say)),
    ...(named.outputs && { outputs: inJson(named.outputs, say) as Record<string, Json> }),
  };
}

type Say = { template: (text: string) => string; expression: (text: string) => string };

function saying(step: Step, say: Say): Step {
  return {
    ...step,
    ...(step.condition !== undefined && { condition: say.expression(step.condition) }),
    config: sayingIn(step.config, say),
  };
}

function sayingIn(config: Config, say: Say): Config {
  // Source code contains no templates; conditions are plain expressions.
  const { type, ...fields } = config;
  const entries = Object.entries(fields).map(([name, value]) => {
    if (value === undefined || name === "source" || name === "output_schema" || name.endsWith("_steps")) {
      return [name, value];
    }
    if (name === "condition") return [name, say.expression(value as string)];
    return [name, inJson(value as Json, say)];
  });
  return { type, ...Object.fromEntries(entries) } as Config;
}

function inJson(value: Json, say: Say): Json {
  if (typeof value === "string") return say.template(value);
  if (Array.isArray(value)) return value.map((one) => inJson(one, say));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inJson(one, say)]));
}

function inTemplate(text: string, from: string, to: string): string {
  return text.replace(
    /(?<!\\)\{\{([\s\S]*?)\}\}/g,
    (_, inner: string) => `{{${inExpression(inner, from, to)}}}`,
  );
}

/** Matches `steps.x` and `steps["x"]`; other strings match without a name, so that they are skipped. */
const MENTION =
  /(?<![\w.])steps(?:\.([A-Za-z_]\w*)|\[\s*(?:"([^"]*)"|'([^']*)')\s*\])|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g;

function inExpression(text: string, from: string, to: string): string {
  return text.replace(MENTION, (whole, dotted?: string, double?: string, single?: string) =>
    (dotted ?? double ?? single) === from ? spoken(to) : whole,
  );
}
