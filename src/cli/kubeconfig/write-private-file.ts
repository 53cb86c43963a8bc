import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/**
 * Writes a file that only its owner can read. It never follows a link at the name of the file, nor
 * at that of its temporary file, which another user of the directory may have placed there.
 *
 * @throws Error if the file exists, unless it may be replaced
 */
export async function writePrivateFile(
  file: string,
  text: string,
  { replace }: { readonly replace: boolean },
): Promise<void> {
  const target = replace ? `${file}.${randomBytes(8).toString("hex")}.tmp` : file;
  const handle = await openNew(target);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    if (target !== file) await rename(target, file);
  } catch (error) {
    await handle.close();
    await rm(target, { force: true });
    throw error;
  }
}

async function openNew(file: string): ReturnType<typeof open> {
  try {
    return await open(file, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new Error(`${file} exists already: --force replaces it`, { cause: error });
  }
}
