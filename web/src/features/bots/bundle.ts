/** Export and import of bots as files. */
import type { BotBundle } from "@/api/types";
import { saveAs } from "@/ui/saveAs";

export class NoBundle extends Error {
  override readonly name = "NoBundle";
  readonly hint = "Choose a file written by “Export” or `forge bots export`.";
}

/** Only checks that the file is an exported bot; the server validates the rest. */
export function readBundle(text: string): BotBundle {
  const found = parse(text);
  if (typeof found !== "object" || found === null || !("forge_bot" in found)) {
    throw new NoBundle("This file is not an exported bot.");
  }
  return found as BotBundle;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Download the bundle as `<slug>.bot.json`. */
export function download(bundle: BotBundle): void {
  const file = new Blob([`${JSON.stringify(bundle, null, 2)}\n`], { type: "application/json" });
  saveAs(file, `${bundle.slug}.bot.json`);
}
