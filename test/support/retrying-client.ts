/**
 * A client that retries as client-go does over HTTP/2. Sources:
 * `k8s.io/client-go@v0.36.0/rest/with_retry.go` and `rest/request.go`: answers 429 and 5xx with
 * `Retry-After`, and gets whose connection was reset; `golang.org/x/net/http2`, `canRetryError`:
 * requests that the server has not processed according to GOAWAY or REFUSED_STREAM.
 */
import { once } from "node:events";
import http2 from "node:http2";
import { peerLatency } from "./peer-latency.ts";

export interface ClientCredentials {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface RetryingClient {
  /** @throws Error when the request is lost: client-go would return the error to its caller */
  send(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }>;
  /** Reads a watch until it ends or fails. */
  watch(path: string, onLine: (line: string) => void): Promise<void>;
  /** Requests that were sent again. */
  readonly retries: number;
  close(): void;
}

const retriesMax = 10;

interface Attempt {
  readonly status: number;
  readonly text: string;
  readonly retryAfterSeconds: number | undefined;
}

/** A request that was not answered. */
class Unanswered extends Error {
  /** Whether the server has certainly not processed it. */
  readonly unprocessed: boolean;
  constructor(cause: Error, { unprocessed }: { unprocessed: boolean }) {
    super(cause.message, { cause });
    this.unprocessed = unprocessed;
  }
}

/** Sends a request once. @throws Unanswered */
function exchange(
  on: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body: object | undefined,
): Promise<Attempt> {
  return new Promise((resolve, reject) => {
    if (on.closed || on.destroyed)
      return reject(new Unanswered(new Error("the connection has ended"), { unprocessed: true }));
    const stream = on.request(headers, { endStream: body === undefined });
    let answer: http2.IncomingHttpHeaders | undefined;
    let text = "";
    stream.setEncoding("utf8");
    stream.on("response", (received) => {
      answer = received;
    });
    stream.on("data", (piece: string) => {
      text += piece;
    });
    stream.on("error", () => {}); // Reported at the end.
    stream.on("close", () => {
      const status = Number(answer?.[":status"]);
      const seconds = answer?.["retry-after"];
      const isWhole = stream.readableEnded && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR;
      if (answer !== undefined && isWhole)
        return resolve({ status, text, retryAfterSeconds: seconds === undefined ? undefined : Number(seconds) });
      const unprocessed = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
      const about = `${headers[":method"]} ${headers[":path"]}: RST_STREAM ${stream.rstCode}`;
      reject(new Unanswered(new Error(about), { unprocessed }));
    });
    if (body !== undefined) stream.end(JSON.stringify(body));
  });
}

/** @param url of the load balancer */
export function retryingClient(url: string, { token, ...tls }: ClientCredentials): RetryingClient {
  let session: http2.ClientHttp2Session | undefined;
  let retries = 0;
  const connect = async (): Promise<http2.ClientHttp2Session> => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    const opened = http2.connect(url, tls);
    opened.on("error", () => {}); // Its requests have the error, too.
    opened.on("goaway", () => opened.close());
    session = opened;
    await once(opened, "connect");
    return opened;
  };
  const headers = (method: string, path: string): http2.OutgoingHttpHeaders => ({
    ":method": method,
    ":path": path,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  });
  const attempt = async (method: string, path: string, body: object | undefined): Promise<Attempt> => {
    const type = body && { "content-type": "application/json" };
    return exchange(await connect(), { ...headers(method, path), ...type }, body);
  };
  return {
    get retries() {
      return retries;
    },
    async send(method, path, body) {
      for (let tries = 0; ; tries++) {
        let waitSeconds = 0;
        try {
          const answer = await attempt(method, path, body);
          const isTemporary = answer.status === 429 || answer.status >= 500;
          if (!isTemporary || answer.retryAfterSeconds === undefined || tries === retriesMax) return answer;
          waitSeconds = answer.retryAfterSeconds;
        } catch (error) {
          const again = method === "GET" || (error instanceof Unanswered && error.unprocessed);
          if (!again || tries === retriesMax) throw error;
          if (!(error instanceof Unanswered && error.unprocessed)) waitSeconds = 1;
        }
        retries++;
        await peerLatency(waitSeconds * 1000);
      }
    },
    async watch(path, onLine) {
      const on = await connect();
      const stream = on.request(headers("GET", path));
      let rest = "";
      stream.setEncoding("utf8");
      stream.on("data", (piece: string) => {
        const lines = (rest + piece).split("\n");
        rest = lines.pop() as string;
        for (const line of lines) onLine(line);
      });
      stream.on("error", () => {}); // The watch has ended.
      await once(stream, "close");
    },
    close() {
      session?.destroy();
    },
  };
}
