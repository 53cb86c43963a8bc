/** Replaces src/apimachinery/data/data-file.ts in the single executable, in which the files are assets. */
import { getAssetKeys, getRawAsset } from "node:sea";

export function readDataFile(name: string): Buffer | undefined {
  return getAssetKeys().includes(name) ? Buffer.from(getRawAsset(name) as ArrayBuffer) : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: as in the module that this one replaces.
export function readTable(name: string): any {
  return JSON.parse(String(readDataFile(name)));
}
