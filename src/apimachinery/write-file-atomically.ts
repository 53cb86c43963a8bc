import { rename, writeFile } from "node:fs/promises";

/** Writes a file through a temporary file, so that readers never see a part of it. */
export async function writeFileAtomically(file: string, text: string, mode: number): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { mode, flush: true });
  await rename(temporary, file);
}
