/**
 * Reads the comments in the type declarations of `kubernetes-models`, which unlike those of
 * client-node describe fields that refer to types, and keep line breaks.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { clientFieldName, commentText, type DescriptionTexts } from "./description-texts.ts";

/** Reads the descriptions of types. @param directory of the package, which has a file for each type */
export async function readModelDescriptions(directory: string): Promise<DescriptionTexts["types"]> {
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
