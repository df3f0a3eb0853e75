/** Unsent text, kept in the session storage until the tab is closed. */
const keyOf = (place: string): string => `forge.unsent.${place}`;

export function readUnsent(place: string): string {
  try {
    return sessionStorage.getItem(keyOf(place)) ?? "";
  } catch {
    return ""; // Storage is blocked: the text lives as long as its field.
  }
}

export function keepUnsent(place: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(keyOf(place));
    else sessionStorage.setItem(keyOf(place), text);
  } catch {
    // As above.
  }
}
