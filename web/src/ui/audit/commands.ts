const CODE = /(`[^`\n]+`)/;
const COMMAND =
  /\bforge audit\b(?: (?:init|baseline|evidence|verify|authorize|trust)\b)?(?: (?:--[a-z-]+|[0-9a-f]{7,64}\b|"[^"\n]*"|[A-Z]+\d+(?:,[A-Z]+\d+)*\b|HEAD\b))*/g;

/** Mark `forge audit` commands in a sentence as code. */
export function withCommands(text: string): string {
  return text
    .split(CODE)
    .map((piece) => (piece.startsWith("`") ? piece : piece.replace(COMMAND, (command) => `\`${command}\``)))
    .join("");
}
