/** The one-time token in what a person pasted: a whole link, or the token itself. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const fragment = text.includes("#") ? text.slice(text.indexOf("#") + 1) : text;
  return new URLSearchParams(fragment).get("token") ?? fragment;
}

/** Take the token out of the address, so that it stays in no history and no screenshot. */
export function takeTokenFromAddress(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get("token");
  if (token !== null) {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, "", pathname + search);
  }
  return token;
}
