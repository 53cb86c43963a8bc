/** `coxswain store copy`: copies a store to another engine or place. */
import { systemClock } from "../../apimachinery/clock.ts";
import type { CopySource, CopyTarget } from "../../storage/copy/contract.ts";
import {
  type CopyOptions,
  type CopyReport,
  type CopyResult,
  type CutOver,
  copyState,
  copyStore,
} from "../../storage/copy/copy.ts";
import { storeDirectory } from "../../storage/options.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { exitDamaged, exitWhole } from "./contract.ts";
import { describeLocation, parseLocation, type StoreLocation } from "./location.ts";
import { type EtcdFiles, openReader, tlsOf } from "./open-reader.ts";
import { progressBar } from "./progress-bar.ts";

export interface CopyCommandOptions extends EtcdFiles {
  readonly from: string;
  readonly to: string;
  readonly follow?: true;
  readonly skipDamaged?: true;
  readonly raiseMax: number;
  readonly output: OutputFormat;
}

/**
 * Runs `coxswain store copy`.
 *
 * @returns the exit code
 * @throws Error; the command continues the copy when it is repeated
 */
export async function copyCommand(options: CopyCommandOptions, output: Output): Promise<number> {
  const files = tlsOf(options);
  const [from, to] = [parseLocation(options.from, files), parseLocation(options.to, files)];
  const bar = progressBar(output);
  try {
    if (options.follow === true && from.engine === "lmdb") {
      const { copyFromServer } = await import("./copy-from-server.ts");
      await copyFromServer(from.dataDir, output, (source) =>
        withTarget({ to, source, options, bar }, (target) => copyState(target)),
      );
    }
    const source = await openReader(from);
    try {
      const result = await withTarget({ to, source, options, bar }, copyUntilCutOver);
      bar.end();
      print(result, describeLocation(to), options.output, output);
      return result.damagedCount > 0 ? exitDamaged : exitWhole;
    } finally {
      await source.close();
    }
  } finally {
    bar.end();
  }
}

interface Ends {
  readonly to: StoreLocation;
  readonly source: CopySource;
  readonly options: CopyCommandOptions;
  readonly bar: ReturnType<typeof progressBar>;
}

/** Opens the target during a copy. */
async function withTarget<Result>(
  { to, source, options, bar }: Ends,
  copy: (options: CopyOptions) => Promise<Result>,
): Promise<Result> {
  const target = await openTarget(to, source.id, options.raiseMax);
  try {
    if (target.marker !== undefined) bar.line("Continuing an unfinished copy", { isUrgent: true });
    return await copy({
      source,
      target,
      clock: systemClock,
      skipDamaged: options.skipDamaged === true,
      follow: options.follow === true && source.isLive,
      report: reportTo(bar),
    });
  } finally {
    await target.close();
  }
}

async function copyUntilCutOver(options: CopyOptions): Promise<CopyResult> {
  const cutOver = operatorCutOver();
  try {
    return await copyStore({ ...options, cutOver });
  } finally {
    cutOver.close();
  }
}

async function openTarget(location: StoreLocation, source: string, raiseMax: number): Promise<CopyTarget> {
  if (location.engine === "etcd") {
    const { openEtcdTarget } = await import("../../storage/copy/etcd-target.ts");
    return openEtcdTarget({ ...location.place, raiseMax }, source);
  }
  const { openLmdbTarget } = await import("../../storage/copy/lmdb-target.ts");
  return openLmdbTarget(storeDirectory(location.dataDir), source);
}

function reportTo(bar: ReturnType<typeof progressBar>): CopyReport {
  return {
    raising: (done, of) => bar.show("Raising the revision", done, of),
    passed: (done, of) => bar.show("Copying", done, of),
    verifying: (done, of) => bar.show("Verifying", done, of),
    restarted: () =>
      bar.line("The source has changes that cannot be read one by one: comparing all objects", { isUrgent: true }),
    following: (behind) =>
      bar.line(
        `Following the source, ${behind} revisions behind. To cut over, stop its servers, then: kill -${cutOverSignal.slice(3)} ${process.pid}`,
      ),
    stillWritten: () =>
      bar.line("The source was written to after the cut-over: stop its servers, and request it again", {
        isUrgent: true,
      }),
  };
}

function print(result: CopyResult, to: string, format: OutputFormat, { out, err }: Output): void {
  const { objects, checksum, sourceRevision, targetRevision, isOutdated, damaged, damagedCount } = result;
  if (format === "json") {
    const { different, differentCount, ...shown } = result;
    out(`${JSON.stringify({ target: to, ...shown }, undefined, 2)}\n`);
    return;
  }
  out(
    `${to}: ${objects} objects of revision ${sourceRevision}; the store goes on at revision ${targetRevision}\n` +
      `SHA-256 of both: ${checksum}\n`,
  );
  if (isOutdated) err("The source was written to after that revision: these changes are not in the copy\n");
  if (damagedCount === 0) return;
  const lines = damaged.map(({ key, problem }) => `  ${key}: ${problem}\n`);
  err(`${damagedCount} objects cannot be read, and were left out:\n${lines.join("")}`);
}

/** The signal of the request; Enter on a terminal is the same. */
const cutOverSignal = "SIGUSR2";

interface OperatorCutOver extends CutOver {
  /** Receives no more requests. */
  close(): void;
}

/** Receives signals of this process, and Enter when its standard input is a terminal. */
function operatorCutOver(): OperatorCutOver {
  let requested = Promise.withResolvers<void>();
  let isRequested = false;
  const request = (): void => {
    isRequested = true;
    requested.resolve();
  };
  process.on(cutOverSignal, request);
  const { stdin } = process;
  if (stdin.isTTY) stdin.on("data", request);
  return {
    get isRequested() {
      return isRequested;
    },
    wait: () => requested.promise,
    reset() {
      isRequested = false;
      requested = Promise.withResolvers();
    },
    close() {
      process.off(cutOverSignal, request);
      if (stdin.isTTY) stdin.off("data", request).pause();
    },
  };
}
