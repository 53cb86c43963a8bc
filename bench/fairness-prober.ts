/**
 * Repeats a request of one user, and measures how long each takes. Arguments: a Probe as JSON. Sends
 * the times in milliseconds since the last question, for each message.
 */
import http2 from "node:http2";
import https from "node:https";
import { setTimeout as delay } from "node:timers/promises";

/** The request: a GET, or a PUT of what the last GET returned. */
export interface Probe {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  readonly path: string;
  readonly method: "GET" | "PUT";
  readonly protocol: "HTTP/1.1" | "HTTP/2";
  readonly pauseMs: number;
}

interface Answer {
  readonly status: number;
  /** Seconds, of a rejection. */
  readonly retryAfter: number;
  readonly body: string;
}

const probe = JSON.parse(process.argv[2] as string) as Probe;
const headers = {
  authorization: `Bearer ${probe.token}`,
  accept: "application/json",
  "content-type": "application/json",
};
let took: number[] = [];

process.on("message", () => {
  process.send?.(took);
  took = [];
});
process.on("disconnect", () => process.exit(0));

const session = probe.protocol === "HTTP/2" ? http2.connect(probe.url, { ca: probe.ca }) : undefined;
const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: probe.ca });

/** Repeats a rejected request, as clients do: the time counts. */
async function send(method: string, body: string): Promise<Answer> {
  for (;;) {
    const answer = await (session === undefined ? sendHttp1(method, body) : sendHttp2(session, method, body));
    if (answer.status !== 429) return answer;
    await delay(answer.retryAfter * 1000);
  }
}

function sendHttp2(session: http2.ClientHttp2Session, method: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...headers, ":method": method, ":path": probe.path }, { endStream: body === "" });
    const pieces: Buffer[] = [];
    let status = 0;
    let retryAfter = 1;
    stream.once("response", (answer) => {
      status = Number(answer[":status"]);
      retryAfter = Number(answer["retry-after"]);
    });
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.once("end", () => resolve({ status, retryAfter, body: Buffer.concat(pieces).toString() }));
    stream.once("error", reject);
    if (body !== "") stream.end(body);
  });
}

function sendHttp1(method: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request(`${probe.url}${probe.path}`, { method, headers, agent }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      const status = response.statusCode ?? 0;
      const retryAfter = Number(response.headers["retry-after"]);
      response.once("end", () => resolve({ status, retryAfter, body: Buffer.concat(pieces).toString() }));
    });
    request.once("error", reject);
    request.end(body);
  });
}

let last = await send("GET", "");
if (last.status !== 200) throw new Error(`${probe.path}: ${last.status} ${last.body}`);
process.send?.("ready");
for (;;) {
  const body = probe.method === "PUT" ? renewed(last.body) : "";
  const startedAt = performance.now();
  last = await send(probe.method, body);
  took.push(performance.now() - startedAt);
  if (last.status !== 200) throw new Error(`${probe.path}: ${last.status} ${last.body}`);
  await delay(probe.pauseMs);
}

/** The lease with the current time. */
function renewed(lease: string): string {
  const object = JSON.parse(lease);
  object.spec.renewTime = new Date().toISOString().replace("Z", "000Z");
  return JSON.stringify(object);
}
