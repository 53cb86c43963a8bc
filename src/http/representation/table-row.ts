/**
 * Rows of Tables: cells, and the bytes of the object after them.
 * Source: `TableRow` in k8s.io/apimachinery@v0.36.0/pkg/apis/meta/v1/types.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Column, TimedCell } from "../../catalog/strategy-contract.ts";
import type { Shape } from "../contract.ts";
import type { EncodedItems } from "./list-pieces.ts";

/** What rows contain of their objects. */
export type TableForm = Pick<Shape & { kind: "table" }, "version" | "includeObject">;

/** A row up to its object: texts, and between them the cells that depend on the current time. */
export interface RowHead {
  readonly parts: readonly (string | TimedCell)[];
  /** The length of the texts. */
  readonly length: number;
  /** Whether all of them are ASCII. */
  readonly ascii: boolean;
}

/** The bytes from one position to another. */
export interface Slice {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Where the object of a row comes from. */
export interface RowObject {
  /** Encodes it; called only when the row contains it. */
  whole(): Buffer;
  /** Encodes its metadata, likewise. */
  metadata(): Slice;
}

/** A text, the bytes of an object after it, and closing braces. */
export interface Row {
  readonly text: string;
  readonly textBytes: number;
  readonly object: Slice | undefined;
  readonly closing: string;
}

/** @param conditions JSON with its key and a leading comma, or empty */
export function headOf(object: KubeObject, columns: readonly Column[], conditions = ""): RowHead {
  const parts: (string | TimedCell)[] = [];
  let text = '{"cells":[';
  let length = 0;
  let ascii = true;
  const end = (): void => {
    length += text.length;
    ascii &&= Buffer.byteLength(text) === text.length;
    parts.push(text);
    text = "";
  };
  for (let index = 0; index < columns.length; index++) {
    if (index > 0) text += ",";
    const cell = (columns[index] as Column).value(object);
    if (typeof cell !== "function") {
      text += encodeCell(cell);
      continue;
    }
    end();
    parts.push(cell as TimedCell);
  }
  text += `]${conditions},"object":`;
  end();
  return { parts, length, ascii };
}

function encodeCell(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value ?? null);
}

/** Returns the text of heads at one time. @param now milliseconds since 1970 */
export function headsAt(now: number): (head: RowHead) => string {
  // Objects that follow each other were often created together.
  let lastCell: TimedCell | undefined;
  let lastText = "";
  return ({ parts }) => {
    let head = "";
    for (const part of parts) {
      if (typeof part === "string") {
        head += part;
        continue;
      }
      if (part !== lastCell) {
        lastCell = part;
        lastText = JSON.stringify(part(now));
      }
      head += lastText;
    }
    return head;
  };
}

/** Makes a row. @param text of the head, from {@link headsAt} */
export function makeRow({ ascii }: RowHead, text: string, from: RowObject, { includeObject, version }: TableForm): Row {
  const row = (whole: string, object: Slice | undefined, closing: string): Row => ({
    text: whole,
    textBytes: ascii ? whole.length : Buffer.byteLength(whole),
    object,
    closing,
  });
  if (includeObject === "None") return row(`${text}null}`, undefined, "");
  if (includeObject === "Object") return row(text, sliceOf(from.whole()), "}");
  const partial = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`;
  return row(text + partial, from.metadata(), "}}");
}

export function sliceOf(bytes: Buffer): Slice {
  return { bytes, start: 0, end: bytes.length };
}

/** Rows with commas between them. */
export function encodeRows(rows: readonly Row[]): EncodedItems {
  let length = Math.max(0, rows.length - 1);
  for (const { textBytes, object, closing } of rows)
    length += textBytes + closing.length + (object === undefined ? 0 : object.end - object.start);
  return { length, write: (bytes, start) => writeRows(rows, bytes, start) };
}

function writeRows(rows: readonly Row[], bytes: Buffer, start: number): number {
  let at = start;
  for (const { text, textBytes, object, closing } of rows) {
    if (at > start) bytes[at++] = comma;
    at += bytes.write(text, at, textBytes === text.length ? "latin1" : "utf8");
    if (object !== undefined) at += object.bytes.copy(bytes, at, object.start, object.end);
    for (let brace = 0; brace < closing.length; brace++) bytes[at++] = closeBrace;
  }
  return at;
}

const comma = 0x2c;
const closeBrace = 0x7d;
