/** A block of PEM text. */
export interface PemBlock {
  /** The label, such as `CERTIFICATE`. */
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const begin = "-----BEGIN ";
const end = "\n-----END ";
const dashes = "-----";

/** Finds the blocks of PEM text as Go's encoding/pem does, and ignores other text. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let at = 0;
  let endAt = -1; // The next end mark; searched only once for any number of begin marks.
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
    if (!isEmpty && endAt < at) endAt = text.indexOf(end, at);
    const bodyEnd = isEmpty ? at : endAt;
    if (bodyEnd < 0) return blocks;
    const trailer = lineAt(text, bodyEnd + (isEmpty ? 0 : 1));
    if (trailer.line !== `${end.slice(1)}${type}${dashes}`) continue;
    const bytes = decode(text.slice(at, bodyEnd));
    if (bytes === undefined) continue;
    blocks.push({ type, hasHeaders, bytes });
    at = trailer.next;
  }
}

function lineAt(text: string, at: number): { readonly line: string; readonly next: number } {
  const newline = text.indexOf("\n", at);
  const stop = newline < 0 ? text.length : newline;
  return { line: text.slice(at, stop).replace(/[ \t\r]+$/, ""), next: newline < 0 ? text.length : newline + 1 };
}

function decode(body: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(body)) return undefined;
  const base64 = body.replace(/\s+/g, "");
  return base64.length % 4 === 0 ? Buffer.from(base64, "base64") : undefined;
}
