/**
 * Keeps decisions and restores apart. Requests are authorized and admitted by the state at that time, controllers act on
 * it, and neither must commit to another one: requests wait for a running restore, and what a restore overtakes cannot
 * commit any more.
 */
import { conflict } from "../../apimachinery/errors.ts";
import type { Decision } from "../../registry/contract.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { RestoreSteps } from "../../server/server.ts";

/** The gate of a server. */
export interface RestoreGate {
  /** Resolves when no restore runs; undefined when none does. */
  idle(): Promise<void> | undefined;
  /**
   * Called when a request or a controller begins to decide. A controller that begins while a restore changes the state
   * may see the old one, so its decision is never current.
   * @param info of the request, which the error names
   */
  decide(info?: Pick<RequestInfo, "group" | "resource" | "name">): Decision;
  /** Runs a restore when all earlier ones have ended. */
  run(restore: (steps: RestoreSteps) => Promise<void>): Promise<void>;
}

const controller = { group: "", resource: "objects", name: "of a controller" };

/** Creates the gate of a server. */
export function restoreGate(): RestoreGate {
  /** Counts the begins of restores, and the turns in which their states become visible. */
  let changes = 0;
  let isChanging = false;
  let last: Promise<void> | undefined;
  const idle = async (): Promise<void> => {
    while (last !== undefined) await last.catch(() => {}); // The caller of the restore gets its error.
  };
  const steps: RestoreSteps = {
    begun() {
      changes += 1;
      isChanging = true;
    },
    visible() {
      changes += 1;
      isChanging = false;
    },
  };
  return {
    idle: () => (last === undefined ? undefined : idle()),
    decide({ group, resource, name } = controller) {
      const since = changes;
      const isCurrent = (): boolean => changes === since && !isChanging;
      return {
        isCurrent,
        check() {
          if (!isCurrent())
            throw conflict({ group, resource }, name, "the server was restored to a snapshot; please try again");
        },
      };
    },
    async run(restore) {
      const before = last;
      const running = (async () => {
        await before?.catch(() => {});
        await restore(steps).finally(() => {
          isChanging = false; // The state of one that has failed is the old one.
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
