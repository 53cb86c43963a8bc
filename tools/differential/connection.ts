/** Connections to a server as its administrator. */
import http2 from "node:http2";
import { readKubeconfig } from "../golden/server/client.ts";
import type { Answer } from "./contract.ts";

export interface OutgoingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Ends the stream when the received bytes satisfy it. */
  readonly isComplete?: (received: Buffer) => boolean;
}

export interface Connection {
  /** @throws Error when the connection breaks, or after {@link answerMs} */
  send(request: OutgoingRequest): Promise<Answer>;
  close(): void;
}

/** How long an answer may take. */
const answerMs = 60_000;
/** One HTTP/2 connection has its streams in turns: several use both cores of a server. */
const sessionsMax = 4;

/** @param kubeconfig the text of a kubeconfig with a client certificate or a token */
export function openConnection(kubeconfig: string): Connection {
  const { url, tls, headers } = readKubeconfig(kubeconfig);
  const sessions: http2.ClientHttp2Session[] = [];
  let turn = 0;
  const session = (): http2.ClientHttp2Session => {
    turn = (turn + 1) % sessionsMax;
    const existing = sessions[turn];
    if (existing !== undefined && !existing.closed && !existing.destroyed) return existing;
    const opened = http2.connect(url, { ...tls, settings: { initialWindowSize: 1 << 20 } });
    opened.on("error", () => opened.destroy());
    sessions[turn] = opened;
    return opened;
  };
  return {
    send: (request) => sendOver(session(), { ...request, headers: { ...headers, ...request.headers } }),
    close() {
      for (const one of sessions) one?.destroy();
    },
  };
}

function sendOver(
  session: http2.ClientHttp2Session,
  { method, path, headers, body, isComplete }: OutgoingRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    const stream = session.request(
      { ":method": method, ":path": path, ...length, ...headers },
      { endStream: body === undefined },
    );
    const pieces: Buffer[] = [];
    let answered: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    const finish = (): void => {
      const { ":status": status = 0, ...rest } = answered;
      resolve({ status, headers: rest, body: Buffer.concat(pieces) });
    };
    stream.setTimeout(answerMs, () => stream.destroy(new Error(`no answer to ${method} ${path}`)));
    stream.on("response", (received) => {
      answered = received;
    });
    stream.on("data", (piece: Buffer) => {
      pieces.push(piece);
      if (!isComplete?.(Buffer.concat(pieces))) return;
      finish();
      stream.close(http2.constants.NGHTTP2_CANCEL);
    });
    stream.on("end", finish);
    stream.on("error", reject);
    stream.on("close", () => reject(new Error(`the stream of ${method} ${path} is closed`)));
    stream.end(body);
  });
}
