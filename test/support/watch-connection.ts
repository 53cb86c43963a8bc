/** Watches over HTTP/1.1 and HTTP/2 that a test can interrupt at any byte. */
import http2 from "node:http2";
import https from "node:https";
import type { Readable } from "node:stream";
import { type Http2Answer, type Http2Request, sendOver, type WatchEvent } from "./http2-client.ts";
import { credentialsOf } from "./kubeconfig-fields.ts";

interface WatchHandlers {
  /** Called when the server has accepted the watch. */
  begin?(): void;
  event(event: WatchEvent): void;
  /**
   * Called once, when the server ends or rejects the watch, or the connection breaks; not after
   * `cut` of the watch.
   *
   * @param error the body of an answer other than 200
   */
  end(error: { readonly status: number; readonly message: string } | undefined): void;
}

export interface CuttableWatch {
  cut(): void;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
}

export interface WatchConnection {
  open(path: string, handlers: WatchHandlers): CuttableWatch;
  /** Breaks all open watches; later ones connect again. */
  break(): void;
}

export interface Http2Connection extends WatchConnection {
  /** Sends a request over the connection of the watches. @param line method and path */
  send(line: string, request?: Http2Request): Promise<Http2Answer>;
}

/** All watches share one connection. */
export function http2Watches(kubeconfig: string): Http2Connection {
  let session: http2.ClientHttp2Session | undefined;
  const connect = (): http2.ClientHttp2Session => {
    const { url, ...tls } = serverOf(kubeconfig);
    const made = http2.connect(url, tls);
    const forget = (): void => {
      if (session === made) session = undefined;
    };
    return made.on("error", forget).on("close", forget).on("goaway", forget);
  };
  const opened = (): http2.ClientHttp2Session => {
    session ??= connect();
    return session;
  };
  return {
    send: (line, request) => sendOver(opened(), line, request),
    open(path, handlers) {
      const stream = opened().request({ ":path": path });
      const reading = new Reading(handlers);
      stream.on("response", (headers) => reading.begin(headers[":status"] as number, stream));
      stream.on("close", () => reading.finish());
      stream.on("error", () => reading.finish());
      return reading.watchOf(stream, () => stream.close(http2.constants.NGHTTP2_CANCEL));
    },
    break() {
      session?.destroy();
      session = undefined;
    },
  };
}

/** Each watch has its own connection. */
export function http1Watches(kubeconfig: string): WatchConnection {
  const { url, ...tls } = serverOf(kubeconfig);
  const agent = new https.Agent(tls);
  const requests = new Set<{ destroy(): void }>();
  return {
    open(path, handlers) {
      const reading = new Reading(handlers);
      const request = https.get(`${url}${path}`, { agent }, (response) => {
        reading.begin(response.statusCode as number, response);
        response.on("close", () => reading.finish());
        response.on("error", () => reading.finish());
      });
      requests.add(request);
      request.on("close", () => {
        requests.delete(request);
        reading.finish();
      });
      request.on("error", () => reading.finish());
      return reading.watchOf(undefined, () => request.destroy());
    },
    break() {
      for (const request of requests) request.destroy();
    },
  };
}

function serverOf(kubeconfig: string): { url: string; ca: string; cert: string; key: string } {
  return {
    url: /server: (\S+)/.exec(kubeconfig)?.[1] as string,
    ...credentialsOf(kubeconfig),
  };
}

/** Reads one answer line by line. */
class Reading {
  readonly #handlers: WatchHandlers;
  #body: Readable | undefined;
  #status = 0;
  #rest = "";
  #over = false;

  constructor(handlers: WatchHandlers) {
    this.#handlers = handlers;
  }

  begin(status: number, body: Readable): void {
    this.#status = status;
    this.#body = body;
    if (status === 200) this.#handlers.begin?.();
    body.setEncoding("utf8");
    body.on("data", (piece: string) => this.#take(piece));
    body.on("end", () => this.finish());
  }

  #take(piece: string): void {
    this.#rest += piece;
    if (this.#status !== 200 || this.#over) return;
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() as string;
    for (const line of lines) if (!this.#over) this.#handlers.event(JSON.parse(line));
  }

  finish(): void {
    if (this.#over) return;
    this.#over = true;
    const isRejected = this.#status !== 0 && this.#status !== 200;
    this.#handlers.end(isRejected ? { status: this.#status, message: this.#rest } : undefined);
  }

  watchOf(body: Readable | undefined, cut: () => void): CuttableWatch {
    return {
      cut: () => {
        this.#over = true;
        cut();
      },
      pause: () => void (this.#body ?? body)?.pause(),
      resume: () => void (this.#body ?? body)?.resume(),
    };
  }
}
