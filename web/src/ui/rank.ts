/** How well a query matches a text: 0 is no match, more is better. */
export function rank(query: string, text: string): number {
  const wanted = query.trim().toLowerCase();
  const given = text.toLowerCase();
  if (wanted === "") return 1;
  if (given.startsWith(wanted)) return 100;
  if (given.includes(` ${wanted}`)) return 80;
  if (given.includes(wanted)) return 60;
  if (wanted.split(/\s+/).every((word) => given.includes(word))) return 40;
  return initials(given).includes(wanted) ? 20 : 0;
}

/** The initials: `rts` for "run the self-test". */
const initials = (text: string): string => text.replace(/(\w)\w*\W*/g, "$1");
