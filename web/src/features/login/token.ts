/** Extract the one-time token from a pasted link or token. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const fragment = text.includes("#") ? text.slice(text.indexOf("#") + 1) : text;
  return new URLSearchParams(fragment).get("token") ?? fragment;
}

/** Remove the token from the address, so that it does not stay in the history. */
export function takeTokenFromAddress(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get("token");
  if (token !== null) {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, "", pathname + search);
  }
  return token;
}
