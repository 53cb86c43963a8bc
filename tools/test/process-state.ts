/** Finds what a test file leaves behind in its process: open handles, environment, listeners and globals. */
import { mock } from "node:test";
import { placesOf } from "./handle-trace.ts";

/** The state of the process that a file must leave as it was. */
export interface ProcessState {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly listeners: ReadonlyMap<string | symbol, number>;
  readonly globals: ReadonlyMap<string | symbol, unknown>;
  readonly resources: ReadonlyMap<string, number>;
  readonly exitCode: typeof process.exitCode;
}

/** Resources that end by themselves: requests of files, names and compression, and the work of ended connections. */
const passing = /Req|Immediate|Zlib|Brotli|Zstd|WorkerHeap|^(?:HttpIncoming|HttpClient|TickObject)/;

/** How long resources may need to close after the last test, in milliseconds. */
const graceMs = 2_000;

/** The globals of Node.js. Libraries add others, and replace those of other libraries. */
const globalNames = Reflect.ownKeys(globalThis);

export function readProcessState(): ProcessState {
  const listeners = new Map(process.eventNames().map((name) => [name, process.listenerCount(name)]));
  return {
    environment: { ...process.env },
    directory: process.cwd(),
    listeners,
    globals: new Map(globalNames.map((name) => [name, ownValue(name)])),
    resources: countResources(),
    exitCode: process.exitCode,
  };
}

/**
 * Waits until the resources of the file are closed, restores what can be restored, and names the rest.
 *
 * @returns one sentence for each thing that the file left behind
 */
export async function findLeaks(before: ProcessState): Promise<{ leaks: string[]; ends: boolean }> {
  mock.reset();
  const open = await openResources(before.resources);
  const after = readProcessState();
  const listeners = leftListeners(before, after);
  const leaks = [
    ...open.map(({ count, kind }) => `left open: ${count} ${kind}${placesOf(kind)}`),
    ...restoreEnvironment(before, after),
    ...restoreDirectory(before, after),
    ...listeners,
    ...restoreGlobals(before, after),
  ];
  if (after.exitCode !== before.exitCode) {
    leaks.push(`set the exit code of the process to ${after.exitCode}`);
    process.exitCode = before.exitCode;
  }
  return { leaks, ends: open.length > 0 || listeners.length > 0 };
}

function restoreEnvironment(before: ProcessState, after: ProcessState): string[] {
  const names = new Set([...Object.keys(before.environment), ...Object.keys(after.environment)]);
  return [...names]
    .filter((name) => before.environment[name] !== after.environment[name])
    .map((name) => {
      const value = before.environment[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
      return `changed the environment variable ${name}`;
    });
}

function restoreDirectory(before: ProcessState, after: ProcessState): string[] {
  if (before.directory === after.directory) return [];
  process.chdir(before.directory);
  return [`changed the working directory to ${after.directory}`];
}

function leftListeners(before: ProcessState, after: ProcessState): string[] {
  return [...after.listeners]
    .filter(([name, count]) => count > (before.listeners.get(name) ?? 0))
    .map(([name]) => `left a listener for the event ${String(name)} of the process`);
}

function restoreGlobals(before: ProcessState, after: ProcessState): string[] {
  const changed = [...before.globals].filter(([name, value]) => !Object.is(after.globals.get(name), value));
  for (const [name, value] of changed) Reflect.set(globalThis, name, value);
  return changed.map(([name]) => `changed the global ${String(name)}`);
}

/** Getters are not called: they load modules of Node.js at their first use. */
function ownValue(name: string | symbol): unknown {
  const property = Reflect.getOwnPropertyDescriptor(globalThis, name);
  return property?.get ?? property?.value;
}

interface OpenResource {
  readonly kind: string;
  readonly count: number;
}

async function openResources(before: ReadonlyMap<string, number>): Promise<OpenResource[]> {
  const end = performance.now() + graceMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const open = [...countResources()]
      .map(([kind, count]) => ({ kind, count: count - (before.get(kind) ?? 0) }))
      .filter(({ count }) => count > 0);
    if (open.length === 0 || performance.now() > end) return open;
  }
}

/** Counts what keeps the process running, by its kind. */
function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (!passing.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
