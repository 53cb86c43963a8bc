/** Sends the steps of a sequence to one server. */
import { isObject } from "../../src/lib/json/values.ts";
import { eventually } from "../../src/testing/eventually.ts";
import type { Connection, OutgoingRequest } from "./connection.ts";
import type { Answer, Step } from "./contract.ts";
import { encodeBody } from "./encode-body.ts";
import { openNormalizer } from "./normalize.ts";
import { parseAnswer } from "./parse-answer.ts";
import { fillText, fillValue, type Texts } from "./references.ts";
import { dropBookmarks, hasEventOf } from "./watch-events.ts";

/** An answer that is compared. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

export interface RunOptions {
  readonly texts: Texts;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Headers that clients depend on. */
const comparedHeaders = [
  "content-type",
  "content-encoding",
  "warning",
  "retry-after",
  "cache-control",
  "vary",
  "allow",
  "location",
  "www-authenticate",
  "x-content-type-options",
];
const untilMs = 10_000;

/** @returns an answer for each step that is not silent, in order; a broken connection has the status 0 */
export async function runSteps(
  connection: Connection,
  steps: readonly Step[],
  { texts, now }: RunOptions,
): Promise<(Reply | undefined)[]> {
  const normalizer = openNormalizer(now);
  const bodies = new Map<string, unknown>();
  const replies: (Reply | undefined)[] = [];
  normalizer.expectGeneratedNames(generateNames(fillValue(steps, texts, bodies)));
  for (const step of steps) {
    const request = outgoing(step, (text) => fillText(text, texts, bodies));
    // References are the server's own values, which the normalizer numbers.
    normalizer.keep(fillText(JSON.stringify([step.path, step.body, step.headers]), texts, new Map()));
    const isFutile = step.after !== undefined && isFailure(bodies.get(step.after));
    const answer = await send(connection, request, isFutile ? undefined : step.until);
    const body = parseAnswer(answer, step.watchUntil !== undefined);
    if (step.id !== undefined) bodies.set(step.id, body);
    if (step.silent) {
      replies.push(undefined);
      continue;
    }
    const compared = step.watchUntil === undefined ? body : dropBookmarks(body);
    replies.push({
      status: answer.status,
      headers: headersOf(answer, (text) => normalizer.text(text)),
      body: normalizer.normalize(compared),
    });
  }
  return replies;
}

function isFailure(body: unknown): boolean {
  return !isObject(body) || body.kind === "Status";
}

function outgoing(step: Step, fill: (text: string) => string): OutgoingRequest {
  const encoded =
    step.body === undefined
      ? undefined
      : encodeBody(
          typeof step.body === "string" ? fill(step.body) : JSON.parse(fill(JSON.stringify(step.body))),
          step.encoding ?? "json",
        );
  const headers = Object.entries(step.headers ?? {}).map(([name, value]) => [name.toLowerCase(), fill(value)]);
  const { watchUntil } = step;
  const name = watchUntil === undefined ? undefined : fill(watchUntil);
  return {
    method: step.method,
    path: fill(step.path),
    headers: { ...(encoded !== undefined && { "content-type": encoded.contentType }), ...Object.fromEntries(headers) },
    ...(encoded !== undefined && { body: encoded.bytes }),
    ...(name !== undefined && { isComplete: (received: Buffer) => hasEventOf(received, name) }),
  };
}

async function send(connection: Connection, request: OutgoingRequest, until: number | undefined): Promise<Answer> {
  let last: Answer = { status: 0, headers: {}, body: Buffer.alloc(0) };
  const attempt = async (): Promise<boolean> => {
    try {
      last = await connection.send(request);
    } catch (error) {
      last = { status: 0, headers: {}, body: Buffer.from((error as Error).message) };
    }
    return until === undefined || last.status === until;
  };
  if (until === undefined) await attempt();
  else await eventually(attempt, { timeoutMs: untilMs, intervalMs: 50 }).catch(() => {}); // The last answer is compared.
  return last;
}

function headersOf({ headers }: Answer, text: (text: string) => string): Record<string, unknown> {
  const entries = comparedHeaders
    .filter((name) => headers[name] !== undefined)
    .map((name) => [name, [headers[name]].flat().map((value) => text(String(value)))]);
  return { ...Object.fromEntries(entries), ...(headers.etag !== undefined && { etag: true }) };
}

/** All values of generateName in bodies. */
function generateNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(generateNames);
  if (!isObject(value)) return [];
  const own = typeof value.generateName === "string" && value.generateName !== "" ? [value.generateName] : [];
  return [...own, ...Object.values(value).flatMap(generateNames)];
}
