/** Writes an uncompressed zip archive. */

export type ZipEntry = { path: string; data: Uint8Array<ArrayBuffer> };

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** File names are UTF-8. */
const FLAGS = 0x0800;
/** January 1, 1980: the same files give the same archive. */
const DATE = 0x0021;

export function zip(entries: readonly ZipEntry[]): Blob {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { path, data } of entries) {
    const name = new TextEncoder().encode(path);
    const facts = [u16(0), u16(0), u16(DATE), u32(crc32(data)), u32(data.length), u32(data.length)];
    const shared = [...facts, u16(name.length), u16(0)];
    const head = join([u32(LOCAL), u16(VERSION), u16(FLAGS), ...shared, name]);
    // No comment, first disk, no attributes, then the offset.
    const rest = [u16(0), u16(0), u16(0), u32(0), u32(offset), name];
    directory.push(join([u32(CENTRAL), u16(VERSION), u16(VERSION), u16(FLAGS), ...shared, ...rest]));
    parts.push(head, data);
    offset += head.length + data.length;
  }
  const listed = join(directory);
  const count = u16(entries.length);
  const end = join([u32(END), u16(0), u16(0), count, count, u32(listed.length), u32(offset), u16(0)]);
  return new Blob([...parts, listed, end], { type: "application/zip" });
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const u16 = (value: number): Uint8Array => new Uint8Array([value, value >>> 8]);
const u32 = (value: number): Uint8Array => new Uint8Array([value, value >>> 8, value >>> 16, value >>> 24]);

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(data: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of data) sum = (TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
