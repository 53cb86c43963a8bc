/** The sizes of a terminal, which clients send as JSON. Source: k8s.io/client-go@v0.36.0/tools/remotecommand. */

import type { Readable, Writable } from "node:stream";
import { type FailingExchange, guarded } from "../../request/boundary.ts";

/** The longest text of one size. */
const sizeBytesMax = 1024;

/** Copies sizes at the pace of the kubelet. After text that is no size, reads on and drops the rest. */
export function copySizes(from: Readable, to: Writable, exchange: FailingExchange): void {
  const sizes = terminalSizes();
  const copy = guarded(exchange, "upgraded data", (piece: Buffer): void => {
    const lines = sizes(piece);
    if (lines === undefined) return void from.off("data", copy).resume();
    if (lines.length === 0 || to.write(lines.join(""))) return;
    from.pause();
    to.once("drain", () => from.resume());
  });
  from.on("data", copy);
}

/**
 * Splits text into sizes, wherever its messages begin.
 *
 * @returns a function that returns the sizes that a piece completes, as lines of JSON, or undefined after text that is
 *   no size; then further ones are ignored
 */
function terminalSizes(): (piece: Buffer) => string[] | undefined {
  let kept = "";
  return (piece) => {
    const lines: string[] = [];
    kept += piece.toString("latin1");
    for (;;) {
      const match = /^\s*(\{[^{}]*\})/.exec(kept);
      if (match === null) break;
      const line = sizeOf(match[1] as string);
      if (line === undefined) return undefined;
      lines.push(line);
      kept = kept.slice(match[0].length);
    }
    return kept.length > sizeBytesMax ? undefined : lines;
  };
}

function sizeOf(text: string): string | undefined {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const numbers = ["width", "height"].map((name) => {
    const [, number = 0] = Object.entries(value).findLast(([key]) => key.toLowerCase() === name) ?? [];
    return number;
  });
  if (!numbers.every((number) => Number.isInteger(number) && (number as number) >= 0 && (number as number) <= 0xffff))
    return undefined;
  return `{"Width":${numbers[0]},"Height":${numbers[1]}}\n`;
}
