/** Asks a server who it takes the caller for, over either protocol, with whatever credentials and headers. */
import http2 from "node:http2";
import https from "node:https";

export interface Caller {
  readonly cert?: string;
  readonly key?: string;
  /** Lines in order; names may repeat. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

export interface WhoAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of the review, when there is one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly user: any;
  readonly text: string;
}

export type Protocol = "HTTP/1.1" | "HTTP/2.0";

export interface WhoConnection {
  ask(headers?: Caller["headers"]): Promise<WhoAnswer>;
  /** Whether it takes further requests. */
  readonly open: boolean;
  close(): void;
}

const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const body = "{}";

/** One connection, kept open. @param ca PEM that the server is known by */
export function whoConnection(url: string, ca: string, { cert, key }: Caller, protocol: Protocol): WhoConnection {
  const credentials = { ca, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  return protocol === "HTTP/2.0" ? overHttp2(url, credentials) : overHttp1(url, credentials);
}

/** On a connection of its own. */
export async function whoIs(url: string, ca: string, caller: Caller, protocol: Protocol): Promise<WhoAnswer> {
  const connection = whoConnection(url, ca, caller, protocol);
  try {
    return await connection.ask(caller.headers);
  } finally {
    connection.close();
  }
}

/** As HTTP/2 has them: names in lower case, each with its values. */
function grouped(headers: Caller["headers"] = []): Record<string, string[]> {
  const lines = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(
    lines.map(([name]) => [name, lines.filter(([other]) => other === name).map(([, value]) => value)]),
  );
}

function answerOf(status: number, headers: WhoAnswer["headers"], text: string): WhoAnswer {
  return { status, headers, text, user: status === 201 ? JSON.parse(text).status.userInfo : undefined };
}

type Credentials = { readonly ca: string; readonly cert?: string; readonly key?: string };

function overHttp1(url: string, credentials: Credentials): WhoConnection {
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
        request.end(Buffer.from(body)); // Text would be sent in one piece with the headers, in its encoding.
      }),
    get open() {
      return open;
    },
    close: () => agent.destroy(),
  };
}

function overHttp2(url: string, credentials: Credentials): WhoConnection {
  const lenient: http2.SecureClientSessionOptions & { readonly strictSingleValueFields: boolean } = {
    ...credentials,
    strictSingleValueFields: false,
  };
  const session = http2.connect(url, lenient);
  session.on("error", () => {}); // Each request hears of it.
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
