const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `412 B`, `1.4 MB`: decimal units. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`;
}
