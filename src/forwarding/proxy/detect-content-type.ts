/**
 * The media type of content that names none. Sources: https://mimesniff.spec.whatwg.org, sections 5 to 7.1, in the part
 * that `DetectContentType` of Go's net/http has.
 */

/** How many bytes are read. */
const bytesMax = 512;

/** Beginnings of HTML after white space; a space or `>` follows. */
const htmlTag =
  /^[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[ >]/i;
const xml = /^[\t\n\f\r ]*<\?xml/;

/** A type, and texts in Latin-1 with their places in the content. */
type Signature = readonly [type: string, text: string, further?: readonly [text: string, at: number]];

const signatures: readonly Signature[] = [
  ["application/pdf", "%PDF-"],
  ["application/postscript", "%!PS-Adobe-"],
  ["image/x-icon", "\0\0\x01\0"],
  ["image/x-icon", "\0\0\x02\0"],
  ["image/bmp", "BM"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["image/webp", "RIFF", ["WEBPVP", 8]],
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["audio/aiff", "FORM", ["AIFF", 8]],
  ["audio/mpeg", "ID3"],
  ["application/ogg", "OggS\0"],
  ["audio/midi", "MThd\0\0\0\x06"],
  ["video/avi", "RIFF", ["AVI ", 8]],
  ["audio/wave", "RIFF", ["WAVE", 8]],
  ["video/webm", "\x1a\x45\xdf\xa3"],
  ["application/vnd.ms-fontobject", "", ["LP", 34]],
  ["font/ttf", "\0\x01\0\0"],
  ["font/otf", "OTTO"],
  ["font/collection", "ttcf"],
  ["font/woff", "wOFF"],
  ["font/woff2", "wOF2"],
  ["application/x-gzip", "\x1f\x8b\x08"],
  ["application/zip", "PK\x03\x04"],
  ["application/x-rar-compressed", "Rar!\x1a\x07\0"],
  ["application/x-rar-compressed", "Rar!\x1a\x07\x01\0"],
  ["application/wasm", "\0asm"],
];

/** Byte order marks, which two or one more bytes follow. */
const orderMarks: readonly Signature[] = [
  ["text/plain; charset=utf-16be", "\xfe\xff"],
  ["text/plain; charset=utf-16le", "\xff\xfe"],
  ["text/plain; charset=utf-8", "\xef\xbb\xbf"],
];

/** @param content its first bytes; 512 of them are enough */
export function detectContentType(content: Buffer): string {
  const start = content.toString("latin1", 0, bytesMax);
  if (htmlTag.test(start)) return "text/html; charset=utf-8";
  if (xml.test(start)) return "text/xml; charset=utf-8";
  const marked = start.length < 4 ? undefined : typeIn(orderMarks, start);
  const type = marked ?? (isMp4(content.subarray(0, bytesMax)) ? "video/mp4" : typeIn(signatures, start));
  return type ?? (Array.from(start).some(isBinary) ? "application/octet-stream" : "text/plain; charset=utf-8");
}

function typeIn(list: readonly Signature[], start: string): string | undefined {
  const found = list.find(
    ([, text, further]) => start.startsWith(text) && (further === undefined || start.startsWith(...further)),
  );
  return found?.[0];
}

/** Whether text never has the character. */
function isBinary(character: string): boolean {
  return character < " " && !"\t\n\f\r\x1b".includes(character);
}

/** Whether the first box names a brand of MP4. */
function isMp4(start: Buffer): boolean {
  if (start.length < 12 || start.toString("latin1", 4, 8) !== "ftyp") return false;
  const size = start.readUInt32BE();
  if (start.length < size || size % 4 !== 0) return false;
  for (let at = 8; at < size; at += 4) if (at !== 12 && start.toString("latin1", at, at + 3) === "mp4") return true;
  return false;
}
