/**
 * Replaces the package `node-gyp-build-optional-packages`, by which lmdb finds its addon. The system loads addons from files only, and they are code, so
 * the file is in a directory that only the user can write.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRawAsset } from "node:sea";
import { userCacheDirectory } from "../../src/apimachinery/compile-cache.ts";
import { addonAsset } from "./addon-asset.ts";

/** Loads the addon from the user's cache directory, or else from a new directory that is removed again. */
export default function loadAddon(): unknown {
  const bytes = Buffer.from(getRawAsset(addonAsset) as ArrayBuffer);
  const kept = userCacheDirectory(process.platform, process.env);
  const directory = kept ?? mkdtempSync(join(tmpdir(), "coxswain-"));
  try {
    return open(writeAddon(directory, bytes));
  } finally {
    if (kept === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function open(file: string): unknown {
  const addon = { exports: {} };
  process.dlopen(addon, file);
  return addon.exports;
}

/** @returns the file. One that exists is used if it has the same content */
function writeAddon(directory: string, bytes: Buffer): string {
  const file = join(directory, `lmdb-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.node`);
  if (readIfThere(file)?.equals(bytes)) return file;
  const written = `${file}.${process.pid}`; // Other processes see the whole file or none.
  writeFileSync(written, bytes, { mode: 0o700 });
  renameSync(written, file);
  return file;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
