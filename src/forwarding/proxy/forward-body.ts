import type { BodyStream } from "../../request/exchange.ts";
import { failureText } from "./failure-text.ts";

/**
 * Sends a body at the pace of the client, and aborts the response when the body breaks off.
 *
 * @throws errors that are bugs of this server
 */
export async function forwardBody(body: AsyncIterable<Buffer>, stream: BodyStream): Promise<void> {
  try {
    for await (const piece of body) if (!stream.write(piece)) await stream.drained();
    stream.end();
  } catch (error) {
    stream.abort(); // The client sees that the response is incomplete.
    if (failureText(error) === undefined) throw error;
  }
}
