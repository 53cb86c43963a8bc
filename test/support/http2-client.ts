/** Sends requests and watches over one HTTP/2 connection, as client-go does. */
import { once } from "node:events";
import http2 from "node:http2";
import { credentialsOf } from "./kubeconfig-fields.ts";

export interface Http2Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly body: any;
}

export interface WatchEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly object: any;
}

export interface Http2Client {
  /** @param line method and path @param contentType of the body; JSON by default */
  send(line: string, body?: object, contentType?: string): Promise<Http2Answer>;
  /** Starts a watch. @param onEnd called when the server has ended it @returns a function that ends it */
  watch(path: string, onEvent: (event: WatchEvent) => void, onEnd?: () => void): () => void;
  close(): void;
}

/** What {@link sendOver} sends besides method and path. */
export interface Http2Request {
  readonly body?: object;
  readonly headers?: http2.OutgoingHttpHeaders;
}

/**
 * @param line method and path
 * @throws Error when the connection breaks before the end of the answer
 */
export async function sendOver(
  session: http2.ClientHttp2Session,
  line: string,
  { body, headers = {} }: Http2Request = {},
): Promise<Http2Answer> {
  const [method, path] = line.split(" ");
  // Node.js would end the request of a DELETE before its body.
  const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
  const pieces: Buffer[] = [];
  let status = 0;
  stream.on("response", (answered) => {
    status = answered[":status"] as number;
  });
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.end(body && JSON.stringify(body));
  await once(stream, "close");
  return { status, body: JSON.parse(Buffer.concat(pieces).toString()) };
}

/** @param kubeconfig the text of a kubeconfig that this project wrote */
export function http2Client(kubeconfig: string): Http2Client {
  const session = http2.connect(/server: (\S+)/.exec(kubeconfig)?.[1] as string, {
    ...credentialsOf(kubeconfig),
  });
  session.on("error", () => {}); // Its requests fail with the error.
  return {
    send: (line, body, contentType = "application/json") =>
      sendOver(session, line, body && { body, headers: { "content-type": contentType } }),
    watch(path, onEvent, onEnd) {
      const stream = session.request({ ":path": path });
      let rest = "";
      stream.setEncoding("utf8");
      stream.on("data", (piece: string) => {
        const lines = (rest + piece).split("\n");
        rest = lines.pop() as string;
        for (const line of lines) onEvent(JSON.parse(line));
      });
      stream.on("error", (error: NodeJS.ErrnoException) =>
        onEvent({ type: "ERROR", object: { message: error.message } }),
      );
      if (onEnd !== undefined) stream.on("end", onEnd);
      return () => stream.close();
    },
    close: () => session.close(),
  };
}
