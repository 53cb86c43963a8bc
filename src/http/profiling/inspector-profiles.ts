/** Profiles of this process from Node's inspector, as pprof. Loaded with the first profile. */
import type { HeapProfiler, Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { encodePprof, type Frame, type ProfileSample } from "../../lib/pprof/pprof.ts";

/** What a profile is recorded with. */
export interface Recording {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves when the recording ends. */
  readonly end: Promise<void>;
}

/** Source: `StartCPUProfile` of Go's runtime/pprof: 100 samples a second. */
const cpuIntervalNanoseconds = 10_000_000;
/** A sample for so many allocated bytes: fewer than in Go, whose profiles contain all since the start. */
const heapIntervalBytes = 64 * 1024;

/** Records where the main thread spends its time; a thread that waits has no samples. */
export async function recordCpu(recording: Recording): Promise<Buffer> {
  return record(recording, async (session) => {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: cpuIntervalNanoseconds / 1000 });
    await session.post("Profiler.start");
    await recording.end;
    const { profile } = await session.post("Profiler.stop");
    return {
      types: [
        ["samples", "count"],
        ["cpu", "nanoseconds"],
      ],
      samples: cpuSamples(profile),
      period: cpuIntervalNanoseconds,
    };
  });
}

/**
 * Records what is allocated in the time of the recording.
 * @param kind `heap`: only what is still in use at its end
 */
export async function recordHeap(kind: "heap" | "allocs", recording: Recording): Promise<Buffer> {
  const counted = kind === "allocs";
  return record(recording, async (session) => {
    await session.post("HeapProfiler.startSampling", {
      samplingInterval: heapIntervalBytes,
      includeObjectsCollectedByMajorGC: counted,
      includeObjectsCollectedByMinorGC: counted,
    });
    await recording.end;
    const { profile } = await session.post("HeapProfiler.stopSampling");
    return {
      types: [[counted ? "alloc_space" : "inuse_space", "bytes"]],
      samples: heapSamples(profile.head),
      period: heapIntervalBytes,
    };
  });
}

type Recorded = Omit<Parameters<typeof encodePprof>[0], "startedAt" | "durationMs">;

async function record({ now }: Recording, run: (session: Session) => Promise<Recorded>): Promise<Buffer> {
  const session = new Session();
  session.connect();
  const startedAt = now();
  try {
    const recorded = await run(session);
    return encodePprof({ ...recorded, startedAt, durationMs: now() - startedAt });
  } finally {
    session.disconnect();
  }
}

function frameOf({ functionName, url, lineNumber }: { functionName: string; url: string; lineNumber: number }): Frame {
  const file = url.startsWith("file:") ? fileURLToPath(url) : url;
  return { name: functionName, file, line: lineNumber + 1 };
}

const idle = "(idle)";

function cpuSamples({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ProfileSample[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const counts = new Map<number, { count: number; microseconds: number }>();
  for (const [index, id] of samples.entries()) {
    const one = counts.get(id) ?? { count: 0, microseconds: 0 };
    counts.set(id, one);
    one.count++;
    one.microseconds += Math.max(0, timeDeltas[index] ?? 0);
  }
  return [...counts].flatMap(([id, { count, microseconds }]) => {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { callFrame } = byId.get(at) as Profiler.ProfileNode;
      if (parents.has(at)) stack.push(frameOf(callFrame)); // Not the root.
    }
    return stack[0]?.name === idle || stack.length === 0 ? [] : [{ stack, values: [count, microseconds * 1000] }];
  });
}

/** Without recursion, because stacks can be deep. */
function heapSamples(head: HeapProfiler.SamplingHeapProfileNode): ProfileSample[] {
  const found: ProfileSample[] = [];
  const open: { node: HeapProfiler.SamplingHeapProfileNode; above: Frame[] }[] = [{ node: head, above: [] }];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { node, above } = one;
    const stack = node === head ? [] : [frameOf(node.callFrame), ...above];
    if (node.selfSize > 0 && stack.length > 0) found.push({ stack, values: [node.selfSize] });
    for (const child of node.children) open.push({ node: child, above: stack });
  }
  return found;
}
