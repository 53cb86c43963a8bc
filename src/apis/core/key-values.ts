/** What configmaps and secrets share. */

/** 1 MiB: all values of one object together. */
export const valuesBytesMax = 1024 * 1024;

/** Entries in key order, so that errors come in one order. */
export function entries(values: Readonly<Record<string, string>> | undefined): [string, string][] {
  return Object.entries(values ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** How many bytes a base64 text stands for. */
export function decodedBytes(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}
