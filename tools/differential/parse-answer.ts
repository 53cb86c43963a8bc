/** Parses the bodies of answers by their content types. */
import { decodeAnyCbor } from "../../src/lib/cbor/decode.ts";
import { checkWellFormed } from "../../src/lib/cbor/well-formed.ts";
import { isObject } from "../../src/lib/json/values.ts";
import { hasMagic } from "../../src/lib/protobuf/envelope.ts";
import type { Answer } from "./contract.ts";
import { readTree } from "./protobuf-tree.ts";

/** @returns JSON, a list of documents for a stream, a tree for protobuf, or a text */
export function parseAnswer({ headers, body }: Answer, isStream: boolean): unknown {
  const type = String(headers["content-type"] ?? "");
  if (type.startsWith("application/json")) return parseJson(body.toString(), isStream);
  if (type.startsWith("application/cbor")) return isStream ? readItems(body) : parseCbor(body);
  if (hasMagic(body)) return readTree(body.subarray(4)) ?? body.toString("hex");
  if (type.startsWith("application/vnd.kubernetes.protobuf")) return isStream ? readFrames(body) : body.toString("hex");
  return body.toString();
}

/** Numbers that JavaScript would change are kept as they are written. */
function parseJson(text: string, isStream: boolean): unknown {
  try {
    const isLines = isStream && !text.startsWith("{\n"); // An error is one document, indented.
    const documents = isLines ? text.split("\n").filter((line) => line !== "") : [text];
    const parsed = documents.map((one) => (hasOddNumber(one) ? JSON.parse(one, exactly) : JSON.parse(one)));
    return isLines ? parsed : parsed[0];
  } catch {
    return text;
  }
}

/** Cheaper than the exact reading, which most answers do not need. */
function hasOddNumber(text: string): boolean {
  return /[:[,]-?(?:\d{16,}|\d*[.eE]|-0)/.test(text);
}

function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && String(value) !== context?.source ? `number ${context?.source}` : value;
}

/** Upstream writes the members of maps in random order. */
function parseCbor(body: Buffer): unknown {
  try {
    return sortKeys(decodeAnyCbor(body));
  } catch {
    return body.toString("hex");
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}

/** CBOR items follow each other: the decoder reports where the first one ends. */
function readItems(body: Buffer): unknown[] {
  const items: unknown[] = [];
  for (let rest = body; rest.length > 0; ) {
    const bytes = firstItemBytes(rest);
    items.push(parseCbor(rest.subarray(0, bytes)));
    rest = rest.subarray(bytes);
  }
  return items;
}

function firstItemBytes(body: Buffer): number {
  try {
    checkWellFormed(body);
    return body.length;
  } catch (error) {
    const end = /starting at index (\d+)/.exec((error as Error).message)?.[1];
    return Number(end ?? 0) || body.length;
  }
}

/** Frames begin with their length. */
function readFrames(body: Buffer): unknown[] {
  const frames: unknown[] = [];
  for (let at = 0; at + 4 <= body.length; ) {
    const length = body.readUInt32BE(at);
    const frame = body.subarray(at + 4, at + 4 + length);
    frames.push(readTree(hasMagic(frame) ? frame.subarray(4) : frame) ?? frame.toString("hex"));
    at += 4 + length;
  }
  return frames;
}
