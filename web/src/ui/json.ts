/** JSON objects typed by a person. */
type Read = { input: Record<string, unknown>; problem: null } | { input: null; problem: string };

/** Empty text is an empty object. */
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

/** Browsers word this differently: some include the text, some the position. */
function why(text: string, error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const position = /at position (\d+)/.exec(said)?.[1];
  const reason = said.split(/, "|\.\.\."| in JSON| at position/)[0] ?? said;
  if (position === undefined) return reason;
  return `${reason} in line ${text.slice(0, Number(position)).split("\n").length}`;
}

/** The input of a skill's test file; null if the file is invalid. */
export function inputOfTest(text: string): string | null {
  const { input } = readInput(text);
  const given = input?.input;
  return typeof given === "object" && given !== null ? writtenOut(given) : null;
}

export const writtenOut = (value: unknown): string => JSON.stringify(value, null, 2) ?? "null";
