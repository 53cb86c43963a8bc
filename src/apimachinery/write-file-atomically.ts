import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/**
 * Writes a file through a temporary file, so that readers never see a part of it. No link is
 * followed, at the name of either file: another user of the directory may have placed it there.
 */
export async function writeFileAtomically(file: string, contents: string | Uint8Array, mode: number): Promise<void> {
  const temporary = `${file}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, contents, { mode, flag: "wx", flush: true });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
