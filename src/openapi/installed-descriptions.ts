/**
 * Reads the descriptions of the installed packages. Loaded only if there are no packed texts; takes
 * some tenths of a second.
 */

import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readClientDescriptions } from "./client-descriptions.ts";
import { clientFieldName, commentText, type DescriptionTexts } from "./description-texts.ts";

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

/**
 * Reads the comments in the type declarations of `kubernetes-models`, which unlike those of client-node describe fields
 * that refer to types, and keep line breaks.
 * @param directory of the package, which has a file for each type
 */
async function readModelDescriptions(directory: string): Promise<DescriptionTexts["types"]> {
  const paths = await readdir(directory, { recursive: true });
  const files = paths.filter((path) => path.endsWith(".d.ts") && !path.startsWith("_schemas"));
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), "utf8")));
  return Object.fromEntries(texts.flatMap(typeIn));
}

/** Bounded: the declarations of an installed package. */
const fullName = /^export type \{ \w+ as I(IoK8s\w+)/m;

/** A comment and the type or field after it. Bounded: the declarations of an installed package. */
const commented = /\/\*\*\n((?:(?!\*\/)[\s\S])*)\*\/\n\s*(?:export (?:interface|type)|"([^"]+)"\??:)/g;

function typeIn(text: string): [name: string, fields: Record<string, string>][] {
  const name = fullName.exec(text)?.[1];
  if (name === undefined) return [];
  const described = [...text.matchAll(commented)];
  return [
    [
      name,
      Object.fromEntries(
        described.map(([, comment, field = ""]) => [clientFieldName(field), modelText(comment as string)]),
      ),
    ],
  ];
}

/** The package escapes asterisks and the end of a comment; other backslashes are in the text. */
function modelText(comment: string): string {
  return commentText(comment).replace(/\\([*/])/g, "$1");
}
