/**
 * Reads the descriptions of the installed packages. Loaded only if there are no packed texts; takes
 * some tenths of a second.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readClientDescriptions } from "./client-descriptions.ts";
import type { DescriptionTexts } from "./description-texts.ts";
import { readModelDescriptions } from "./model-descriptions.ts";

/** Reads the texts of the packages that are installed. */
export async function readInstalledDescriptions(): Promise<DescriptionTexts> {
  const client = directoryOf("@kubernetes/client-node");
  const models = ["kubernetes-models", "@kubernetes-models/apimachinery"].map(directoryOf);
  const found = models.filter((directory) => directory !== undefined);
  const texts = client === undefined ? { types: {}, parameters: {} } : await readClientDescriptions(client);
  return {
    types: Object.assign(texts.types, ...(await Promise.all(found.map(readModelDescriptions)))),
    parameters: texts.parameters,
  };
}

function directoryOf(name: string): string | undefined {
  try {
    return dirname(fileURLToPath(import.meta.resolve(name)));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
