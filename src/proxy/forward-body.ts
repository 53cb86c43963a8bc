import type { BodyStream } from "../http/contract.ts";

/** Sends a body at the pace of the client, and aborts the response when the body breaks off. */
export async function forwardBody(body: AsyncIterable<Buffer>, stream: BodyStream): Promise<void> {
  try {
    for await (const piece of body) if (!stream.write(piece)) await stream.drained();
    stream.end();
  } catch {
    stream.abort(); // The client sees that the response is incomplete.
  }
}
