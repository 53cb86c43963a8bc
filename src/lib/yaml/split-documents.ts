/** Separates the documents of a YAML stream. Source: YAML 1.1, section 4.3.1, "Document boundaries". */
import { readCharacters } from "./characters.ts";

/** A document, for `decodeYaml` of `decode.ts`. */
export interface YamlDocument {
  readonly bytes: Buffer;
  /** The line of the stream where it begins, counted from 1. */
  readonly line: number;
}

/**
 * Splits a stream at its markers `---` and `...`, which only begin a line of their own document, also within scalars.
 * Directives belong to the document after them. Documents without content, such as comments, are left out.
 *
 * @returns the documents in order; each with its marker, if it has one
 * @throws YamlError for bytes that are not UTF-8, and for characters that YAML does not allow
 */
export function splitDocuments(bytes: Buffer): YamlDocument[] {
  const documents: YamlDocument[] = [];
  let pieces: string[] = [];
  let [from, hasContent, hasDirective] = [1, false, false];
  const end = (next: number): void => {
    if (hasContent) documents.push({ bytes: Buffer.from(pieces.join("")), line: from });
    [pieces, from, hasContent, hasDirective] = [[], next, false, false];
  };
  for (const [index, line] of linesOf(readCharacters(bytes)).entries()) {
    if (isMarker(line, "...")) {
      end(index + 2);
      continue;
    }
    const isStart = isMarker(line, "---");
    if (isStart && (hasContent || !hasDirective)) end(index + 1);
    pieces.push(line);
    if (!hasContent && line.startsWith("%")) hasDirective = true;
    else hasContent ||= !isBlank(isStart ? line.slice(3) : line);
  }
  end(0);
  return documents;
}

/** Each with its line break. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    lines.push(text.slice(at, end < 0 ? text.length : end + 1));
    at += (lines.at(-1) as string).length;
  }
  return lines;
}

function isMarker(line: string, marker: string): boolean {
  return (
    line.startsWith(marker) && (line.length === marker.length || " \t\r\n".includes(line[marker.length] as string))
  );
}

/** Whether there is nothing, or only a comment. */
function isBlank(line: string): boolean {
  const text = line.trimStart();
  return text === "" || text.startsWith("#");
}
