/** Receives the calls of webhooks over TLS, and passes them to functions. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookAuthority } from "./authority.ts";

/** An HTTP request of the server to a webhook. */
export interface ReviewCall {
  /** The query, with the question mark. */
  readonly query: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** What the webhook answers. */
export interface ReviewReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** Answers a call. When it throws, the answer is 500 with the message. */
export type ReviewFunction = (call: ReviewCall) => Promise<ReviewReply>;

/** A listener for all webhooks of a server. */
export interface Bridge {
  /** @returns the URL of the function */
  add(id: string, run: ReviewFunction): Promise<string>;
  remove(id: string): void;
  close(): Promise<void>;
}

/** A review contains an object before and after a write, and the server's limit for one is 3 MiB of JSON. */
const bodyBytesMax = 16 << 20;

/** Creates a listener, which opens with the first function, on a free port of 127.0.0.1. It does not hold the process. */
export function openBridge(authority: WebhookAuthority): Bridge {
  const functions = new Map<string, ReviewFunction>();
  let opening: Promise<Server> | undefined;
  const open = async (): Promise<Server> => {
    const { createServer } = await import("node:https");
    const { cert, key } = await authority.issue(["127.0.0.1", "localhost"]);
    const server = createServer({ cert, key }, (request, response) => void serve(request, response, functions));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    return server.unref();
  };
  return {
    async add(id, run) {
      opening ??= open();
      const { port } = (await opening).address() as AddressInfo;
      functions.set(id, run);
      return `https://127.0.0.1:${port}/${id}`;
    },
    remove: (id) => void functions.delete(id),
    async close() {
      const server = await opening;
      if (server === undefined) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  functions: ReadonlyMap<string, ReviewFunction>,
): Promise<void> {
  const answer = ({ status, contentType, body }: ReviewReply): void => {
    response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(body) });
    response.end(body);
  };
  try {
    const { pathname, search } = new URL(request.url ?? "/", "https://127.0.0.1");
    const run = functions.get(pathname.slice(1));
    if (run === undefined) return answer(textReply(404, "there is no such webhook"));
    const body = await bodyOf(request);
    if (body === undefined) return answer(textReply(413, "the review is too large"));
    answer(await run({ query: search, contentType: request.headers["content-type"] ?? "", body }));
  } catch (error) {
    if (!response.headersSent) answer(textReply(500, (error as Error).message));
    else response.destroy();
  }
}

/** @returns an answer with a message */
export function textReply(status: number, text: string): ReviewReply {
  return { status, contentType: "text/plain; charset=utf-8", body: text };
}

/** @returns undefined when it is too large @throws Error when the connection ends */
export async function bodyOf(message: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message) {
    bytes += piece.length;
    if (bytes > bodyBytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
