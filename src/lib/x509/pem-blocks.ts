import { trimEndOf } from "../text/trim.ts";

/** A block of PEM text. Source: RFC 7468. */
export interface PemBlock {
  /** The label, such as `CERTIFICATE`. */
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
  /** The block itself, from its begin mark to its end mark. */
  readonly text: string;
}

const begin = "-----BEGIN ";
const end = "\n-----END ";
const dashes = "-----";

/** Finds the blocks of PEM text as Go's encoding/pem does, and ignores other text. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let at = 0;
  // The next end mark; searched, and its line read, only once for any number of begin marks.
  let endAt = -1;
  let trailerAt = -1;
  let trailer = { line: "", next: 0 };
  for (;;) {
    const start = text.startsWith(begin, at) ? at : text.indexOf(`\n${begin}`, at) + 1;
    if (start === 0 && !text.startsWith(begin, at)) return blocks;
    at = start + begin.length;
    const first = lineAt(text, at);
    at = first.next;
    if (!first.line.endsWith(dashes)) continue;
    const type = first.line.slice(0, -dashes.length);
    let hasHeaders = false;
    let line = lineAt(text, at);
    for (; line.line.includes(":"); line = lineAt(text, at)) {
      hasHeaders = true;
      at = line.next;
    }
    if (at >= text.length) return blocks;
    const isEmpty = !hasHeaders && text.startsWith(end.slice(1), at);
    if (isEmpty) endAt = at - 1;
    else if (endAt < at) endAt = text.indexOf(end, at);
    if (endAt < 0) return blocks;
    const bodyEnd = Math.max(at, endAt);
    if (trailerAt !== endAt) {
      trailer = lineAt(text, endAt + 1);
      trailerAt = endAt;
    }
    if (trailer.line !== `${end.slice(1)}${type}${dashes}`) continue;
    const bytes = decode(text.slice(at, bodyEnd));
    if (bytes === undefined) continue;
    blocks.push({ type, hasHeaders, bytes, text: text.slice(start, trailer.next) });
    at = trailer.next;
  }
}

function lineAt(text: string, at: number): { readonly line: string; readonly next: number } {
  const newline = text.indexOf("\n", at);
  const stop = newline < 0 ? text.length : newline;
  return { line: trimEndOf(text.slice(at, stop), " \t\r"), next: newline < 0 ? text.length : newline + 1 };
}

function decode(body: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/=\s]*$/.test(body)) return undefined; // Ends at the first dash of another block.
  const base64 = body.replace(/\s+/g, "");
  return base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64) ? Buffer.from(base64, "base64") : undefined;
}
