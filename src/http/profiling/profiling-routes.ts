/**
 * Profiles at /debug/pprof/, for users with the right to the path. Node.js has those of the processor and of the memory.
 * Sources: Go's net/http/pprof/pprof.go and k8s.io/apiserver@v0.36.0/pkg/server/routes/profiling.go.
 */

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { PathRoute, RequestState } from "../../request/context.ts";

/** A profile that is recorded in the time of the request. */
type Recorded = "profile" | "heap" | "allocs";

/** Seconds of a recording if the request names none. */
const defaultSeconds: Readonly<Record<Recorded, number>> = { profile: 30, heap: 10, allocs: 10 };
/** Longer recordings end then; they are kept in memory. */
const secondsMax = 300;

/** Those of Go that Node.js has no counterpart of. */
const missing: Readonly<Record<string, string>> = {
  block: "waits for other threads",
  mutex: "locks",
  trace: "the execution of goroutines",
};

/** What is counted when the request arrives. */
const counted = {
  goroutine: "what the event loop waits for, by type: sockets, timers, and so on",
  threadcreate: "the threads of the process, by name (Linux)",
} as const;

const recordings: Readonly<Record<Recorded, string>> = {
  allocs: `allocations in the next seconds (?seconds=${defaultSeconds.allocs}), also of what is collected by then`,
  heap: `allocations in the next seconds (?seconds=${defaultSeconds.heap}) that are in use at their end`,
  profile: `CPU time of the main thread in the next seconds (?seconds=${defaultSeconds.profile})`,
};

/** @returns the routes of the profiles of this process, of which one is recorded at a time */
export function profilingRoutes(clock: Clock): PathRoute[] {
  let isRecording = false;
  const record = async (context: RequestState, name: Recorded): Promise<void> => {
    if (isRecording) return sendProblem(context, 500, `Could not enable profiling: a profile is being recorded`);
    isRecording = true;
    try {
      sendProfile(context, name, await profileOf(context, name, clock));
    } finally {
      isRecording = false;
    }
  };
  return [
    { path: "/debug/pprof", handler: redirectToIndex },
    {
      path: "/debug/pprof/*",
      handler(context) {
        const name = context.info.path.slice("/debug/pprof/".length);
        if (name === "") return sendPage(context, "text/html; charset=utf-8", index());
        if (name === "cmdline") return sendPage(context, plain, process.argv.join("\0"));
        // The functions of profiles have names, so that there are no addresses to translate.
        if (name === "symbol") return sendPage(context, plain, "num_symbols: 0\n");
        if (Object.hasOwn(recordings, name)) return record(context, name as Recorded);
        if (Object.hasOwn(counted, name)) return sendCounts(context, name as keyof typeof counted, clock);
        if (!Object.hasOwn(missing, name)) return sendProblem(context, 404, "Unknown profile");
        sendProblem(context, 501, `Node.js has no profile of ${missing[name]}`);
      },
    },
  ];
}

const plain = "text/plain; charset=utf-8";

async function profileOf(context: RequestState, name: Recorded, clock: Clock): Promise<Buffer> {
  const { recordCpu, recordHeap } = await import("./inspector-profiles.ts");
  const ms = secondsOf(context, name) * 1000;
  const end = new Promise<void>((resolve) => {
    const cancel = realClock(clock).after(ms, resolve);
    context.exchange.onClose(() => {
      cancel();
      resolve();
    });
  });
  const recording = { now: () => realClock(clock).now(), end };
  const profile = await (name === "profile" ? recordCpu(recording) : recordHeap(name, recording));
  return promisify(gzip)(profile);
}

async function sendCounts(context: RequestState, name: keyof typeof counted, clock: Clock): Promise<void> {
  const { activeResources, countsProfile, countsText, threads } = await import("./current-counts.ts");
  const counts = name === "goroutine" ? activeResources() : await threads();
  if (counts === undefined) return sendProblem(context, 501, "This operating system has no list of threads");
  const isText = !["", "0"].includes(context.info.query.get("debug") ?? "");
  if (isText) return sendPage(context, plain, countsText(name, counts));
  sendProfile(context, name, await promisify(gzip)(countsProfile(name, counts, realClock(clock).now())));
}

/** As in Go, what is no positive number is ignored. */
function secondsOf({ info }: RequestState, name: Recorded): number {
  const text = info.query.get("seconds") ?? "";
  const seconds = /^\+?\d{1,15}$/.test(text) ? Number(text) : 0;
  return seconds === 0 ? defaultSeconds[name] : Math.min(seconds, secondsMax);
}

function headersOf({ auditId, headers }: RequestState, type: string): Record<string, string | string[]> {
  return {
    "audit-id": auditId,
    "cache-control": "no-cache, private",
    "content-type": type,
    "x-content-type-options": "nosniff",
    ...headers,
  };
}

function sendProfile(context: RequestState, name: string, bytes: Buffer): void {
  const headers = headersOf(context, "application/octet-stream");
  context.exchange.respond(200, { ...headers, "content-disposition": `attachment; filename="${name}"` }, bytes);
}

function sendPage(context: RequestState, type: string, text: string): void {
  context.exchange.respond(200, headersOf(context, type), Buffer.from(text));
}

function sendProblem(context: RequestState, code: number, text: string): void {
  const headers = { ...headersOf(context, plain), "x-go-pprof": "1" };
  context.exchange.respond(code, headers, Buffer.from(`${text}\n`));
}

function redirectToIndex(context: RequestState): void {
  const headers = { ...headersOf(context, "text/html; charset=utf-8"), location: "/debug/pprof/" };
  context.exchange.respond(302, headers, Buffer.from('<a href="/debug/pprof/">Found</a>.\n\n'));
}

function index(): string {
  const row = (name: string, text: string): string => `<tr><td><a href="${name}">${name}</a></td><td>${text}</td></tr>`;
  const rows = [
    ...Object.entries(recordings).map(([name, text]) => row(name, text)),
    ...Object.entries(counted).map(([name, text]) => row(name, text)),
    row("cmdline", "the command line of the process"),
    ...Object.entries(missing).map(
      ([name, what]) => `<tr><td>${name}</td><td>Node.js has no profile of ${what}</td></tr>`,
    ),
  ];
  return `<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n<table>\n${rows.join("\n")}\n</table>\n</body>\n</html>\n`;
}
