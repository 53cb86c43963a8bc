/**
 * Keeps requests and restores apart. A request is authorized and admitted by the state at that time, and must not commit
 * to another one: requests wait for a running restore, and those that a restore overtakes cannot commit any more.
 */
import { conflict } from "../../apimachinery/errors.ts";
import type { RequestInfo } from "../../http/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";

/** The gate of a server. */
export interface RestoreGate {
  /** Resolves when no restore runs; undefined when none does. */
  idle(): Promise<void> | undefined;
  /**
   * Called when a request starts.
   * @returns a check that throws 409 when a restore has begun since the start
   */
  enter(info: RequestInfo): NonNullable<RegistryContext["checkDecided"]>;
  /**
   * Runs a restore when all earlier ones have ended.
   * @param restore must call `begun` in the turn in which it decides what it changes
   */
  run(restore: (begun: () => void) => Promise<void>): Promise<void>;
}

/** Creates the gate of a server. */
export function restoreGate(): RestoreGate {
  let restores = 0;
  let last: Promise<void> | undefined;
  const idle = async (): Promise<void> => {
    while (last !== undefined) await last.catch(() => {}); // The caller of the restore gets its error.
  };
  return {
    idle: () => (last === undefined ? undefined : idle()),
    enter({ group, resource, name }) {
      const since = restores;
      return () => {
        if (restores !== since)
          throw conflict({ group, resource }, name, "the server was restored to a snapshot; please try again");
      };
    },
    async run(restore) {
      const before = last;
      const running = (async () => {
        await before?.catch(() => {});
        await restore(() => {
          restores += 1;
        });
      })();
      last = running;
      try {
        await running;
      } finally {
        if (last === running) last = undefined;
      }
    },
  };
}
