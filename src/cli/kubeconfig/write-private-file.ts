import { writeFile } from "node:fs/promises";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";

const mode = 0o600;

/**
 * Writes a file that only its owner can read. It never follows a link at the name of the file, which
 * another user of the directory may have placed there.
 *
 * @throws Error if the file exists, unless it may be replaced
 */
export async function writePrivateFile(
  file: string,
  text: string,
  { replace }: { readonly replace: boolean },
): Promise<void> {
  if (replace) return writeFileAtomically(file, text, mode);
  try {
    await writeFile(file, text, { mode, flag: "wx", flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new Error(`${file} exists already: --force replaces it`, { cause: error });
  }
}
