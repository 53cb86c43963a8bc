/** The texts of OpenAPI for a packed build, taken from installed packages; never committed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { readInstalledDescriptions } from "../../src/openapi/installed-descriptions.ts";

/** Writes `descriptions.json.br`, which src/openapi/descriptions.ts reads from the same directory as the other tables. @param dataDir such as `dist` */
export async function writeDescriptions(dataDir: string): Promise<void> {
  const json = JSON.stringify(await readInstalledDescriptions());
  writeFileSync(join(dataDir, "descriptions.json.br"), brotliCompressSync(json)); // Half of what gzip needs.
}
