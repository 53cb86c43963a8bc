import { rename, writeFile } from "node:fs/promises";

/** Readers see the old file or the new one, never half of it. */
export async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { mode, flush: true });
  await rename(temporary, file);
}
