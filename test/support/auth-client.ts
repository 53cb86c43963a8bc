/** Sends SelfSubjectReviews over HTTP/1.1 or HTTP/2 with any credentials and headers. */
import http2 from "node:http2";
import https from "node:https";

/** The credentials and headers of a request. */
export interface Caller {
  readonly cert?: string;
  readonly key?: string;
  /** Header lines in order; names may repeat. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

export interface AuthAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The user in the review; undefined if the server returned none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly user: any;
  readonly text: string;
}

export type Protocol = "HTTP/1.1" | "HTTP/2.0";

export interface AuthConnection {
  ask(headers?: Caller["headers"]): Promise<AuthAnswer>;
  /** Whether the connection can send further requests. */
  readonly open: boolean;
  close(): void;
}

const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const body = "{}";

/** Opens a connection. @param ca PEM of the authority of the server */
export function openAuthConnection(url: string, ca: string, { cert, key }: Caller, protocol: Protocol): AuthConnection {
  const credentials = { ca, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  return protocol === "HTTP/2.0" ? overHttp2(url, credentials) : overHttp1(url, credentials);
}

/** Sends one review on a new connection. */
export async function reviewSelf(url: string, ca: string, caller: Caller, protocol: Protocol): Promise<AuthAnswer> {
  const connection = openAuthConnection(url, ca, caller, protocol);
  try {
    return await connection.ask(caller.headers);
  } finally {
    connection.close();
  }
}

/** Headers for HTTP/2: lower-case names, each with all its values. */
function grouped(headers: Caller["headers"] = []): Record<string, string[]> {
  const lines = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(
    lines.map(([name]) => [name, lines.filter(([other]) => other === name).map(([, value]) => value)]),
  );
}

function answerOf(status: number, headers: AuthAnswer["headers"], text: string): AuthAnswer {
  return { status, headers, text, user: status === 201 ? JSON.parse(text).status.userInfo : undefined };
}

type Credentials = { readonly ca: string; readonly cert?: string; readonly key?: string };

function overHttp1(url: string, credentials: Credentials): AuthConnection {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ...credentials });
  let open = true;
  return {
    ask: (headers = []) =>
      new Promise((resolve, reject) => {
        const host = new URL(url).host;
        const lines = [
          "host",
          host,
          ...headers.flat(),
          "content-type",
          "application/json",
          "content-length",
          String(body.length),
        ];
        const request = https.request(new URL(path, url), { method: "POST", agent, headers: lines }, (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (piece: string) => {
            text += piece;
          });
          response.on("end", () => {
            open = response.headers.connection !== "close";
            resolve(answerOf(response.statusCode ?? 0, response.headers, text));
          });
          response.on("error", reject);
        });
        request.on("error", reject);
        request.end(Buffer.from(body)); // Node would send a string together with the headers, in their encoding.
      }),
    get open() {
      return open;
    },
    close: () => agent.destroy(),
  };
}

function overHttp2(url: string, credentials: Credentials): AuthConnection {
  const lenient: http2.SecureClientSessionOptions & { readonly strictSingleValueFields: boolean } = {
    ...credentials,
    strictSingleValueFields: false,
  };
  const session = http2.connect(url, lenient);
  session.on("error", () => {}); // Each request receives the error.
  return {
    ask: (headers) =>
      new Promise((resolve, reject) => {
        const lines = Object.fromEntries(
          Object.entries(grouped(headers)).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
        );
        const stream = session.request({
          ":method": "POST",
          ":path": path,
          "content-type": "application/json",
          ...lines,
        });
        let text = "";
        let answer: http2.IncomingHttpHeaders = {};
        stream.setEncoding("utf8");
        stream.on("response", (received) => {
          answer = received;
        });
        stream.on("data", (piece: string) => {
          text += piece;
        });
        stream.on("end", () => resolve(answerOf(Number(answer[":status"] ?? 0), answer, text)));
        stream.on("error", reject);
        stream.end(body);
      }),
    get open() {
      return !session.closed && !session.destroyed;
    },
    close: () => session.destroy(),
  };
}
