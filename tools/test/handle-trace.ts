/** Remembers where handles were created, for `npm test -- --trace-handles`: a leak is reported with these places. */
import { createHook } from "node:async_hooks";

/** The kinds of process.getActiveResourcesInfo(), and those of node:async_hooks. */
const kinds = new Map([
  ["TCPSERVERWRAP", "TCPServerWrap"],
  ["TCPWRAP", "TCPSocketWrap"],
  ["PIPEWRAP", "PipeWrap"],
  ["PROCESSWRAP", "ProcessWrap"],
  ["FSEVENTWRAP", "FSEventWrap"],
  ["UDPWRAP", "UDPWrap"],
  ["Timeout", "Timeout"],
]);
const framesMax = 8;

const created = new Map<number, { readonly kind: string; readonly stack: string }>();
let isTracing = false;

/** Begins to remember. It makes everything slower. */
export function traceHandles(): void {
  isTracing = true;
  createHook({
    init(id, type) {
      const kind = kinds.get(type);
      if (kind !== undefined) created.set(id, { kind, stack: callers() });
    },
    destroy: (id) => created.delete(id),
  }).enable();
}

/** Forgets the handles of earlier files. */
export function forgetHandles(): void {
  created.clear();
}

/** @returns the places where handles of this kind were created that are still open; empty without a trace */
export function placesOf(kind: string): string {
  if (!isTracing) return "";
  return [...created.values()].flatMap((one) => (one.kind === kind ? [`\n  created\n${one.stack}`] : [])).join("");
}

function callers(): string {
  const lines = (new Error().stack ?? "").split("\n").slice(3);
  return lines
    .filter((line) => !/\(?node:|handle-trace/.test(line))
    .slice(0, framesMax)
    .join("\n");
}
