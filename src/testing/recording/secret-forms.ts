/** The texts in which a secret can appear outside of the fields that hold it. */
import { isUtf8 } from "node:buffer";
import { isObject } from "../../lib/json/values.ts";
import { trimEndOf } from "../../lib/text/trim.ts";
import { escapeSegment } from "./escape-segment.ts";
import type { Placeholder } from "./placeholder.ts";

/** A text that reveals a secret, and what replaces it. */
export interface SecretForm {
  readonly text: string;
  readonly replacement: string;
}

/** Shorter forms are not searched: they occur by chance. */
export const formLengthMin = 8;
/** Texts of one class of characters, such as `postgres`, are searched from this length on. */
const plainLengthMin = 16;
/** The parts of one secret that are searched, such as its lines. */
const partsMax = 1000;

const certificateStart = "-----BEGIN CERTIFICATE-----";
const certificateEnd = "-----END CERTIFICATE-----";

function withoutCertificates(text: string): string {
  let rest = "";
  let at = 0;
  for (;;) {
    const start = text.indexOf(certificateStart, at);
    const end = start < 0 ? -1 : text.indexOf(certificateEnd, start);
    if (end < 0) return rest + text.slice(at);
    rest += text.slice(at, start);
    at = end + certificateEnd.length;
  }
}

/**
 * The parts of a secret that are secrets themselves: its lines, and the texts in JSON, as in the
 * credentials of an image registry. Public certificates are not.
 */
export function secretParts(secret: Buffer): readonly Buffer[] {
  if (!isUtf8(secret)) return [secret];
  const text = withoutCertificates(secret.toString());
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  const values = lines.map((line) => line.replace(/^[\w.-]+\s*[=:]\s*/, "").replace(/^(["'])(.*)\1$/, "$2"));
  const parts = new Set([text, text.trim(), ...lines, ...values, ...textsInJson(text)]);
  return [...parts]
    .filter(isDistinctive)
    .slice(0, partsMax)
    .map((part) => Buffer.from(part));
}

/** Whether replacing a text everywhere does not change unrelated text. */
function isDistinctive(text: string): boolean {
  if (text.length < formLengthMin) return false;
  const classes = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9.-]/].filter((one) => one.test(text)).length;
  return classes > 1 || text.length >= plainLengthMin;
}

function textsInJson(text: string): string[] {
  if (!/^\s*[{[]/.test(text)) return [];
  try {
    return textsOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** All texts in a value, without recursion: the value comes from a client. */
function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  const pending = [value];
  for (let next = pending.pop(); next !== undefined || pending.length > 0; next = pending.pop()) {
    if (typeof next === "string") texts.push(next);
    else if (Array.isArray(next)) for (const item of next) pending.push(item);
    else if (isObject(next)) for (const item of Object.values(next)) pending.push(item);
  }
  return texts;
}

/** The texts to search for a secret: as it is, escaped, in base64 at every offset, and in hex. */
export function formsOf(secret: Buffer, placeholder: Placeholder): readonly SecretForm[] {
  const base64 = [...base64Forms(secret), ...base64Forms(Buffer.from(secret.toString("base64")))];
  const hex = secret.toString("hex");
  const texts = isUtf8(secret) ? textForms(secret.toString()) : [];
  return [
    ...[...texts, hex, hex.toUpperCase()].map((text) => ({ text, replacement: placeholder.text })),
    ...base64.map((text) => ({ text, replacement: placeholder.base64 })),
  ].filter(({ text }) => text.length >= formLengthMin);
}

function textForms(text: string): string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  const escaped = encodeURIComponent(text);
  return [
    ...new Set([
      text,
      quoted,
      JSON.stringify(quoted).slice(1, -1),
      escaped,
      escapeSegment(text),
      escaped.replaceAll("%20", "+"),
      new URLSearchParams([["", text]]).toString().slice(1),
    ]),
  ];
}

/**
 * The characters that base64 has for these bytes in any longer text: those that are not shared with
 * the bytes around them; in both alphabets.
 */
function base64Forms(secret: Buffer): string[] {
  const forms = [0, 1, 2].map((offset) => {
    const encoded = trimEndOf(Buffer.concat([Buffer.alloc(offset), secret]).toString("base64"), "=");
    const end = (offset + secret.length) % 3 === 0 ? encoded.length : encoded.length - 1;
    return encoded.slice(offset === 0 ? 0 : offset + 1, end);
  });
  return [...new Set([...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))])];
}
