/** Formatting of money and tokens. Amounts are in millionths of a dollar. */

const MICROS = 1_000_000;

/** `$0`, `$0.0042`, `$0.02`, `$0.42`, `$12.50`, `$1,204`: significant digits only. */
export function formatMicros(micros: number): string {
  const dollars = micros / MICROS;
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "< $0.0001";
  if (dollars < 0.1) return `$${Number(dollars.toFixed(4))}`;
  if (dollars < 1000) return `$${dollars.toFixed(2)}`;
  return `$${Math.round(dollars).toLocaleString("en-US")}`;
}

/** A price per million tokens: `$3`, `$0.3`, `$18.75`. */
export const formatPrice = (dollars: number): string => `$${Number(dollars.toFixed(4))}`;

/** `840`, `12.4k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${trimmed(count / 1000)}k`;
  return `${trimmed(count / 1_000_000)}M`;
}

const trimmed = (value: number): string =>
  value < 100 ? value.toFixed(1).replace(/\.0$/, "") : value.toFixed(0);
