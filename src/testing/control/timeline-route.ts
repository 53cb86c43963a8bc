import { badRequest } from "../../apimachinery/errors.ts";
import type { Timeline } from "../timeline/contract.ts";
import type { ControlRoute } from "./contract.ts";

/**
 * `GET /testing/timeline?since=MARK`: text, or JSON with `mark`, `dropped` and `entries` for clients
 * that accept it.
 */
export function timelineRoute(timeline: Timeline): ControlRoute {
  return {
    method: "GET",
    path: "timeline",
    handle({ query, acceptsJson }) {
      const since = markOf(query.get("since"));
      if (!acceptsJson) return { text: timeline.format({ since }) };
      return { json: { mark: timeline.mark(), dropped: timeline.dropped, entries: timeline.entries({ since }) } };
    },
  };
}

/** @throws ApiError 400 */
function markOf(text: string | null): number {
  if (text === null) return 0;
  if (!/^\d{1,15}$/.test(text)) throw badRequest("since: must be a mark of the timeline, a whole number");
  return Number(text);
}
