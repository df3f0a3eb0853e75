/** What goes into a skill: an object, written as JSON by a person. */
type Read = { input: Record<string, unknown>; problem: null } | { input: null; problem: string };

/** Nothing at all is an empty object. */
export function readInput(text: string): Read {
  if (text.trim() === "") return { input: {}, problem: null };
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input === "object" && input !== null && !Array.isArray(input)) {
      return { input: input as Record<string, unknown>, problem: null };
    }
    return { input: null, problem: 'The input is an object: {"name": "value"}.' };
  } catch (error) {
    return { input: null, problem: `This is no JSON: ${where(text, error)}` };
  }
}

/** Browsers say it in their own ways; the line is worth more than the position some of them give. */
function where(text: string, error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const position = /position (\d+)/.exec(said)?.[1];
  if (position === undefined || said.includes("line ")) return said;
  return `${said} (line ${text.slice(0, Number(position)).split("\n").length})`;
}

export const writtenOut = (value: unknown): string => JSON.stringify(value, null, 2) ?? "null";
