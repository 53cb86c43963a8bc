/**
 * Decides which recorded answer a request gets, and when. Two recorded requests are ordered if the
 * first one was answered before the second one began, and either the first one is a write, or both
 * have the same path. A request is answered after those that precede it have arrived; requests that
 * overlapped in the recording, and reads of different paths, have no order.
 */
import type { AnswerLine, Line, RecordedBody, RequestLine } from "./format.ts";
import { requestDifference } from "./match.ts";
import { titleOfRequest } from "./request-line.ts";

/** A recorded request and what followed. */
export interface RecordedRequest {
  readonly request: RequestLine["request"];
  /** The position of the request in the recording. */
  readonly at: number;
  /** Undefined when the session ended before the server had answered. */
  readonly answer: AnswerLine["answer"] | undefined;
  /** The position of the answer; Infinity without one. */
  readonly answeredAt: number;
  /** Events of a watch, and its end, which has no body. */
  readonly events: readonly { readonly at: number; readonly body: RecordedBody | undefined }[];
}

/** A replay that has started. */
export interface Replay {
  /** @returns the recorded request that matches, or why there is none */
  take(request: RequestLine["request"]): RecordedRequest | string;
  /** Resolves when every request that precedes this one, or this event of it, has arrived. */
  ready(recorded: RecordedRequest, at?: number): Promise<void>;
  /** The recorded requests that precede this one, and have not arrived. */
  missing(recorded: RecordedRequest): readonly RecordedRequest[];
  /** The recorded requests that have not arrived. */
  rest(): readonly RecordedRequest[];
}

const writes: ReadonlySet<string> = new Set(["DELETE", "PATCH", "POST", "PUT"]);

/** Collects the lines of each request. */
export function recordedRequests(lines: readonly Line[]): readonly RecordedRequest[] {
  const found = new Map<number, { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] }>();
  const events = new Map<number, { at: number; body: RecordedBody | undefined }[]>();
  lines.forEach((line, at) => {
    if ("request" in line) {
      const own: { at: number; body: RecordedBody | undefined }[] = [];
      events.set(line.n, own);
      found.set(line.n, {
        request: line.request,
        at,
        answer: undefined,
        answeredAt: Number.POSITIVE_INFINITY,
        events: own,
      });
    } else if ("answer" in line) Object.assign(found.get(line.n) as object, { answer: line.answer, answeredAt: at });
    else if ("body" in line) addBody(found.get(line.n) as { request: RequestLine["request"] }, line.body);
    else events.get(line.n)?.push({ at, body: "event" in line ? line.event : undefined });
  });
  return [...found.values()];
}

function addBody(to: { request: RequestLine["request"] }, body: RecordedBody): void {
  to.request = { ...to.request, body };
}

/** Starts a replay. */
export function startReplay(recorded: readonly RecordedRequest[]): Replay {
  const pending = new Set(recorded);
  let waiting: { isReady: () => boolean; resolve: () => void }[] = [];

  function take(request: RequestLine["request"]): RecordedRequest | string {
    const differences: string[] = [];
    for (const one of pending) {
      const difference = requestDifference(one.request, request);
      if (difference === undefined) {
        arrive(one);
        return one;
      }
      const isSamePath = one.request.method === request.method && one.request.path === request.path;
      if (isSamePath && differences.length === 0) differences.push(difference);
    }
    return differences[0] ?? notRecorded(recorded, [...pending], request);
  }

  function arrive(one: RecordedRequest): void {
    pending.delete(one);
    const ready = waiting.filter(({ isReady }) => isReady());
    waiting = waiting.filter((each) => !ready.includes(each));
    for (const { resolve } of ready) resolve();
  }

  const missing = (one: RecordedRequest): RecordedRequest[] => [...pending].filter((other) => precedes(other, one));
  const missingBefore = (at: number): RecordedRequest[] =>
    [...pending].filter((other) => writes.has(other.request.method) && other.at < at);

  return {
    take,
    missing,
    rest: () => [...pending],
    ready(one, at) {
      const isReady = (): boolean => (at === undefined ? missing(one) : missingBefore(at)).length === 0;
      if (isReady()) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.push({ isReady, resolve });
      });
    },
  };
}

function precedes(first: RecordedRequest, second: RecordedRequest): boolean {
  if (first.answeredAt > second.at) return false;
  return writes.has(first.request.method) || first.request.path === second.request.path;
}

/** The recorded requests that have not arrived and are compared with one that was not recorded. */
const comparedMax = 1000;

/** @returns which recorded request is the most similar one, to be added to a sentence */
function nearestTo(pending: readonly RecordedRequest[], actual: RequestLine["request"]): string {
  const scored = pending.slice(0, comparedMax).map((one) => ({ one, score: similarity(one.request, actual) }));
  const [nearest] = scored.sort((a, b) => b.score - a.score);
  if (nearest === undefined) return ", and all recorded requests have arrived";
  return `; the nearest request that has not arrived is ${titleOfRequest(nearest.one.request)}`;
}

/** Counts the segments at the start and the end of the paths that are equal; the method decides between equals. */
function similarity(recorded: RequestLine["request"], actual: RequestLine["request"]): number {
  const [before, after] = [recorded.path.split("/"), actual.path.split("/")];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return 2 * (start + end) - Math.abs(before.length - after.length) + (recorded.method === actual.method ? 1 : 0);
}

function notRecorded(
  recorded: readonly RecordedRequest[],
  pending: readonly RecordedRequest[],
  request: RequestLine["request"],
): string {
  const count = recorded.filter((one) => requestDifference(one.request, request) === undefined).length;
  if (count > 0) return `it was recorded ${count === 1 ? "once" : `${count} times`}, and has arrived more often`;
  return `it was not recorded${nearestTo(pending, request)}`;
}
