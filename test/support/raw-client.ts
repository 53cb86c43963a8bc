/** Sends plain HTTPS requests, for tests of requests that no regular client sends. */
import https from "node:https";
import { field } from "./kubeconfig-fields.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body, if it is one JSON value. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly body: any;
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string | string[]>;
  /** Objects are sent as JSON. */
  readonly body?: string | Buffer | object;
  /** Omits the client certificate. */
  readonly anonymous?: boolean;
}

export interface RawClient {
  send(request: RawRequest): Promise<Answer>;
  close(): void;
}

/** @param kubeconfig the text of a kubeconfig that this project wrote */
export function rawClient(kubeconfig: string): RawClient {
  const ca = field(kubeconfig, "certificate-authority-data");
  const credentials = { cert: field(kubeconfig, "client-certificate-data"), key: field(kubeconfig, "client-key-data") };
  const url = new URL(/server: (\S+)/.exec(kubeconfig)?.[1] as string);
  const known = new https.Agent({ keepAlive: true, ca, ...credentials });
  const unknown = new https.Agent({ keepAlive: true, ca });
  return {
    send: ({ method = "GET", path, headers = {}, body, anonymous = false }) =>
      new Promise((resolve, reject) => {
        const payload =
          body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
        const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
        const framed = names.has("content-length") || names.has("transfer-encoding");
        const withBody = {
          ...(!names.has("content-type") && { "content-type": "application/json" }),
          ...(payload !== undefined && !framed && { "content-length": String(Buffer.byteLength(payload)) }), // Node omits it for DELETE.
          ...headers,
        };
        const request = https.request(
          {
            host: url.hostname,
            port: url.port,
            method,
            path,
            headers: payload === undefined ? headers : withBody,
            agent: anonymous ? unknown : known,
          },
          (response) => {
            const pieces: Buffer[] = [];
            response.on("data", (piece: Buffer) => pieces.push(piece));
            response.on("error", reject);
            response.on("end", () => {
              const bytes = Buffer.concat(pieces);
              const text = bytes.toString();
              const isJson = response.headers["content-type"]?.includes("json") ?? false;
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                bytes,
                text,
                // Parsed when read, because a watch returns many values.
                get body() {
                  return isJson && text !== "" ? JSON.parse(text) : undefined;
                },
              });
            });
          },
        );
        request.on("error", reject);
        request.end(payload);
      }),
    close() {
      known.destroy();
      unknown.destroy();
    },
  };
}
