/** What a failed wait shows of a server. */
import type { Timeline, TimelineMark } from "./timeline/contract.ts";
import { formatEntries } from "./timeline/format.ts";

/** Lines of the timeline. */
const linesMax = 15;
const watchesMax = 10;

/** @returns the last lines of the timeline since a mark, and the open watches with what they have got */
export function reportRequests(timeline: Timeline, since: TimelineMark = 0): string {
  const lines = timeline.format({ since }).trimEnd().split("\n").slice(-linesMax);
  const watches = timeline.openWatches().map((watch) => formatEntries([watch]).trimEnd());
  const more = watches.length > watchesMax ? [`… and ${watches.length - watchesMax} more`] : [];
  return [
    ...(lines.join("") === "" ? ["The server got no requests."] : ["The last requests:", ...lines]),
    ...(watches.length === 0 ? ["No watch is open."] : ["Open watches:", ...watches.slice(0, watchesMax), ...more]),
  ].join("\n");
}
