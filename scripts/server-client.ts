/** What scripts send to a kube-apiserver, and what it answers, by the certificate of a kubeconfig. */
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";

export interface ServerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The Warning headers, joined. */
  readonly warnings: string;
  readonly text: string;
  /** The text as JSON. @throws SyntaxError where it is none */
  readonly body: unknown;
}

/** @param line method and path @param body JSON text */
export type Send = (line: string, body?: string, headers?: Readonly<Record<string, string>>) => Promise<ServerAnswer>;

/** @param kubeconfig its text, with certificates in it: the first server and user of it */
export function openServerClient(kubeconfig: string): Send {
  const bytesOf = (field: string): Buffer => Buffer.from(new RegExp(`${field}: (\\S+)`).exec(kubeconfig)?.[1] ?? "", "base64");
  const url = new URL(/server: (\S+)/.exec(kubeconfig)?.[1] ?? "");
  const [ca, cert, key] = ["certificate-authority-data", "client-certificate-data", "client-key-data"].map(bytesOf);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
  return (line, body, headers) =>
    new Promise((resolve, reject) => {
      const [method, path] = line.split(" ");
      const options = { host: url.hostname, port: url.port, method, path, agent, headers: { "content-type": "application/json", ...headers } };
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
