/** The types are those that Go's net/http detects. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { detectContentType } from "./detect-content-type.ts";

const rows: readonly (readonly [type: string, ...contents: string[]])[] = [
  ["text/html; charset=utf-8", "<!DOCTYPE HTML>", "\n\t\f\r <html >", "<h1>", "<!-- ", "<A >", `${" ".repeat(500)}<p>`],
  ["text/xml; charset=utf-8", "<?xml", " <?xml version"],
  [
    "text/plain; charset=utf-8",
    "",
    "<html",
    "<html\n>",
    "<?XML",
    "\v<p>".slice(1, 3),
    "\x1b[0m",
    "\x7f\x85",
    "RIFFaaaa",
  ],
  ["text/plain; charset=utf-8", "\xef\xbb\xbf\0", `${"a".repeat(512)}\0`, `${" ".repeat(600)}<p>`],
  ["text/plain; charset=utf-16be", "\xfe\xff\0a"],
  ["text/plain; charset=utf-16le", "\xff\xfea\0"],
  ["application/octet-stream", "\0", "a\x0b", "\v<p>", `${"a".repeat(511)}\0`, "\xef\xbb\x01"],
  ["application/pdf", "%PDF-1.4"],
  ["application/postscript", "%!PS-Adobe-3.0"],
  ["image/x-icon", "\0\0\x01\0", "\0\0\x02\0"],
  ["image/bmp", "BM"],
  ["image/gif", "GIF87a", "GIF89a"],
  ["image/webp", "RIFF\n\0\n\0WEBPVP8"],
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["audio/aiff", "FORM1234AIFF"],
  ["audio/mpeg", "ID3"],
  ["application/ogg", "OggS\0"],
  ["audio/midi", "MThd\0\0\0\x06"],
  ["video/avi", "RIFF1234AVI "],
  ["audio/wave", "RIFF1234WAVE"],
  ["video/mp4", "\0\0\0\x0cftypmp4a", "\0\0\0\x14ftypisom\0\0\0\0mp41"],
  [
    "application/octet-stream",
    "\0\0\0\x0cftypisom",
    "\0\0\0\x10ftypisommp41",
    "\0\0\0\x0dftypmp4aa",
    "\0\0\0\xffftypmp4a",
  ],
  ["video/webm", "\x1a\x45\xdf\xa3"],
  ["application/vnd.ms-fontobject", `${"\0".repeat(34)}LP`],
  ["font/ttf", "\0\x01\0\0"],
  ["font/otf", "OTTO"],
  ["font/collection", "ttcf"],
  ["font/woff", "wOFF"],
  ["font/woff2", "wOF2"],
  ["application/x-gzip", "\x1f\x8b\x08"],
  ["application/zip", "PK\x03\x04"],
  ["application/x-rar-compressed", "Rar!\x1a\x07\0", "Rar!\x1a\x07\x01\0"],
  ["application/wasm", "\0asm"],
];

test("detects the type of content", () => {
  for (const [type, ...contents] of rows)
    for (const content of contents)
      assert.equal(detectContentType(Buffer.from(content, "latin1")), type, JSON.stringify(content));
});
