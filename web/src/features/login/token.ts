/** Extract the one-time token from a pasted link or token. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const fragment = text.includes("#") ? text.slice(text.indexOf("#") + 1) : text;
  return new URLSearchParams(fragment).get("token") ?? fragment;
}

/** Take a token out of the address, so that it does not stay in the history. */
export function takeFromAddress(name: "token" | "invitation"): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get(name);
  if (token !== null) {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, "", pathname + search);
  }
  return token;
}

const PROBLEM = "forge_problem";

/** Take the problem of a failed GitHub sign-in, which the server left in a cookie. */
export function takeProblem(): { message: string; hint: string | null } | null {
  const found = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${PROBLEM}=`));
  if (!found) return null;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in some browsers.
  document.cookie = `${PROBLEM}=; Path=/; Max-Age=0`;
  try {
    const value = found.slice(PROBLEM.length + 1).replace(/^"|"$/g, "");
    return JSON.parse(decodeURIComponent(value));
  } catch {
    return { message: "Signing in with GitHub failed.", hint: null };
  }
}
