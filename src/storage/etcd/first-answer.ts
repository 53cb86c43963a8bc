/** Waits for a cluster at the start of a server. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { SharedStoreError, StorageUnavailable } from "../contract.ts";
import type { EtcdClient } from "./api/client.ts";
import type { Header } from "./api/messages.ts";

interface StartOptions {
  readonly servers: readonly string[];
  readonly clock: Clock;
  readonly logger?: Logger;
  /** How long the start waits for a member. */
  readonly startTimeoutMs: number;
}

/** A start waits so long for each answer, and then logs why there is none. */
const startAttemptMs = 3_000;
/** A start asks the members again after this time. */
const startAgainMs = 200;

/** Reads a key until a member answers. Logs each reason once. @throws StorageUnavailable that names the servers */
export async function firstAnswer(
  client: EtcdClient,
  key: Buffer,
  { servers, clock, logger, startTimeoutMs }: StartOptions,
): Promise<Header> {
  const until = clock.now() + startTimeoutMs;
  for (let last: unknown, logged = ""; ; ) {
    try {
      const leftMs = Math.min(startAttemptMs, Math.max(1, until - clock.now()));
      return (await client.range({ key, count_only: true }, leftMs)).header;
    } catch (failure) {
      // The last attempt may have been too short to show the reason.
      const error = failure instanceof SharedStoreError && failure.isTimeout ? (last ?? failure) : failure;
      last = error;
      const { message } = error as Error;
      if (message !== logged)
        logger?.warn("etcd does not answer, and the start waits", { servers: servers.join(), error: message });
      logged = message;
      if (clock.now() + startAgainMs < until)
        await new Promise<void>((resolve) => void clock.after(startAgainMs, resolve));
      else {
        const seconds = Math.round(startTimeoutMs / 1000);
        const message = `etcd at ${servers.join(", ")} did not answer within ${seconds} s: ${(error as Error).message}`;
        throw new StorageUnavailable(message, { cause: error });
      }
    }
  }
}
