/** Finds the annotations of audit events in a log. */

import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { eventually } from "./until.ts";

/**
 * @param path of a log in JSON, which a server appends to
 * @returns a function that waits for the event with an ID and returns its annotations; it rejects if there is none in time
 */
export function readAuditLog(path: string): (auditId: string) => Promise<Readonly<Record<string, string>>> {
  const known = new Map<string, Readonly<Record<string, string>>>();
  let offset = existsSync(path) ? sizeOf(path) : 0;
  let rest = "";
  const readOn = (): void => {
    const bytes = readFrom(path, offset);
    offset += bytes.length;
    const lines = (rest + bytes.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { auditID, annotations = {} } = JSON.parse(Buffer.from(line, "latin1").toString());
      known.set(auditID, annotations);
    }
  };
  return async (auditId) => {
    return eventually(`an audit event with the ID ${auditId}`, () => {
      readOn();
      const annotations = known.get(auditId) ?? false;
      known.clear();
      return annotations;
    });
  };
}

function sizeOf(path: string): number {
  const file = openSync(path, "r");
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

function readFrom(path: string, offset: number): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - offset));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(file);
  }
}
