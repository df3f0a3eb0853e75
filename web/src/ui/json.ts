/** What goes into a run: an object, written as JSON by a person. */
type Read = { input: Record<string, unknown>; problem: null } | { input: null; problem: string };

/** Nothing at all is an empty object. */
export function readInput(text: string): Read {
  if (text.trim() === "") return { input: {}, problem: null };
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input === "object" && input !== null && !Array.isArray(input)) {
      return { input: input as Record<string, unknown>, problem: null };
    }
    return { input: null, problem: 'The input must be an object: {"name": "value"}.' };
  } catch (error) {
    return { input: null, problem: `Invalid JSON: ${why(text, error)}.` };
  }
}

/** Browsers say it in their own ways: some with the whole text, some with the place in it. */
function why(text: string, error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const position = /at position (\d+)/.exec(said)?.[1];
  const reason = said.split(/, "|\.\.\."| in JSON| at position/)[0] ?? said;
  if (position === undefined) return reason;
  return `${reason} in line ${text.slice(0, Number(position)).split("\n").length}`;
}

/** What goes in, of a test that lies beside a skill; null when it is not written as one. */
export function inputOfTest(text: string): string | null {
  const { input } = readInput(text);
  const given = input?.input;
  return typeof given === "object" && given !== null ? writtenOut(given) : null;
}

export const writtenOut = (value: unknown): string => JSON.stringify(value, null, 2) ?? "null";
