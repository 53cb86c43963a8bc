/** Reads the start of a kubelet's answer, for the text of an error. */
import type { IncomingMessage } from "node:http";
import { failureText } from "../proxy/failure-text.ts";

/**
 * @param bytesMax reading stops after so many bytes
 * @returns the text; undefined if the connection failed before its end
 */
export async function readStart(message: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of message as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length >= bytesMax) break;
    }
  } catch (error) {
    if (failureText(error) === undefined) throw error;
    return undefined;
  }
  return Buffer.concat(pieces).subarray(0, bytesMax).toString();
}
