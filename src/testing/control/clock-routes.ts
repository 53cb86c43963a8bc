import type { Clock } from "../../apimachinery/clock.ts";
import { badRequest, internalError } from "../../apimachinery/errors.ts";
import { DurationError } from "../../lib/duration/duration.ts";
import { isObject } from "../../lib/json/values.ts";
import { parseTimeMs, TimeError } from "../../lib/schema/time.ts";
import type { OpenTimeline } from "../timeline/timeline.ts";
import { type AdvanceOptions, EndlessTimersError, isVirtualClock, type VirtualClock } from "../virtual-clock.ts";
import type { ControlAnswer, ControlRoute } from "./contract.ts";

/** The path under `/testing/`. */
export const clockPath = "clock";

/**
 * `GET /testing/clock` reads the time of the server. `POST` moves a virtual clock forward, with `{advance}`, a span as
 * `VirtualClock.advance` accepts it, or with `{set}`, a time, and answers when the server has reached it. The clock stops
 * when the client has gone.
 */
export function clockRoutes(clock: Clock, timeline: Pick<OpenTimeline, "clock">): readonly ControlRoute[] {
  return [
    { method: "GET", path: clockPath, handle: () => shown(clock) },
    {
      method: "POST",
      path: clockPath,
      async handle({ body, signal }) {
        if (!isVirtualClock(clock))
          throw badRequest("the clock of this server is the real one; a server with --virtual-clock has another");
        const { text, run } = readMove(await body());
        try {
          const done = run(clock, { signal });
          timeline.clock(text);
          await done;
        } catch (error) {
          if (signal.aborted && error === signal.reason) {
            const time = new Date(clock.now()).toISOString();
            timeline.clock(`stopped at ${time}, because the client has gone`);
            throw internalError(`the clock stopped at ${time}, because the client has gone`);
          }
          if (error instanceof EndlessTimersError) throw internalError(error.message);
          if (error instanceof RangeError || error instanceof DurationError) throw badRequest(error.message);
          throw error;
        }
        return shown(clock);
      },
    },
  ];
}

function shown(clock: Clock): ControlAnswer {
  return { json: { now: new Date(clock.now()).toISOString(), virtual: isVirtualClock(clock) } };
}

interface Move {
  /** For the timeline. */
  readonly text: string;
  readonly run: (clock: VirtualClock, options: AdvanceOptions) => Promise<void>;
}

/** @throws ApiError 400 */
function readMove(body: unknown): Move {
  const fields = isObject(body) ? Object.entries(body) : [];
  const [field, value] = fields[0] ?? [];
  if (fields.length !== 1 || (field !== "advance" && field !== "set"))
    throw badRequest("the body must be an object with one of the fields advance and set");
  if (field === "set") {
    const time = readTime(value);
    return { text: `set to ${new Date(time).toISOString()}`, run: (clock, options) => clock.advanceTo(time, options) };
  }
  if (typeof value !== "string" && typeof value !== "number")
    throw badRequest("advance: must be a duration, such as 1h30m, or a number of milliseconds");
  return { text: `advanced by ${value}`, run: (clock, options) => clock.advance(value, options) };
}

/** @throws ApiError 400 */
function readTime(value: unknown): number {
  if (typeof value !== "string") throw badRequest("set: must be a time, such as 2030-01-01T00:00:00Z");
  try {
    return parseTimeMs(value);
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(`set: ${error.message}`);
    throw error;
  }
}
