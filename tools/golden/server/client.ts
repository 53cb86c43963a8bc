/** Sends requests to a kube-apiserver as the user of a kubeconfig. */
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";

export interface ServerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The Warning headers, joined. */
  readonly warnings: string;
  readonly text: string;
  /** The text as JSON. @throws SyntaxError for other text */
  readonly body: unknown;
}

/** @param line method and path @param body JSON text @param headers with an empty value are not sent */
export type Send = (line: string, body?: string, headers?: Readonly<Record<string, string>>) => Promise<ServerAnswer>;

export interface ServerAccess {
  readonly url: string;
  readonly tls: {
    readonly ca?: Buffer;
    readonly cert?: Buffer;
    readonly key?: Buffer;
    readonly rejectUnauthorized?: boolean;
  };
  readonly headers: Readonly<Record<string, string>>;
}

/** @param kubeconfig text of a kubeconfig; its first server and user, with inline certificates or a token */
export function readKubeconfig(kubeconfig: string): ServerAccess {
  const textOf = (field: string): string => new RegExp(`${field}: "?([^\\s"}]+)`).exec(kubeconfig)?.[1] ?? "";
  const fields = { ca: "certificate-authority-data", cert: "client-certificate-data", key: "client-key-data" };
  const known = Object.entries(fields).filter(([, field]) => textOf(field) !== "");
  const token = textOf("token");
  return {
    url: textOf("server"),
    tls: {
      ...Object.fromEntries(known.map(([name, field]) => [name, Buffer.from(textOf(field), "base64")])),
      ...(textOf("insecure-skip-tls-verify") === "true" && { rejectUnauthorized: false }),
    },
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
  };
}

/** @param kubeconfig as for {@link readKubeconfig} */
export function openServerClient(kubeconfig: string): Send {
  const access = readKubeconfig(kubeconfig);
  const url = new URL(access.url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...access.tls });
  return (line, body, headers) =>
    new Promise((resolve, reject) => {
      const [method, path] = line.split(" ");
      // Node does not send the body of a DELETE without its length.
      const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
      const all = { "content-type": "application/json", ...length, ...access.headers, ...headers };
      const sentHeaders = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
      const options = { host: url.hostname, port: url.port, method, path, agent, headers: sentHeaders };
      const sent = request(options, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("end", () => {
          const text = Buffer.concat(pieces).toString();
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            warnings: [answer.headers.warning ?? []].flat().join(", "),
            text,
            get body() {
              return JSON.parse(text);
            },
          });
        });
      });
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : Buffer.from(body));
    });
}
