/** What a run has found, as text. */
import { type FoundCause, requestsOf, type State } from "./state.ts";

/** The causes, the most frequent first, then each area and the whole. */
export function reportOf(state: State): string {
  const causes = [...state.causes].sort((a, b) => b.count - a.count);
  return [
    ...causes.map(causeText),
    ...Object.keys(state.areas).map((area) => areaLine(state, area)),
    summary(state),
  ].join("\n");
}

export function causeText({ cause, count, reason, first, what, ours, theirs, shortest }: FoundCause): string {
  const head = `${count} times: ${cause}${reason === undefined ? "" : `\n  known: ${reason}`}`;
  if (reason !== undefined) return head;
  const steps = (shortest?.steps ?? []).map((step) => `    ${JSON.stringify(step)}`);
  return [head, `  first: --sequence ${first}`, `  ${what}`, `  ours:   ${ours}`, `  theirs: ${theirs}`, ...steps].join(
    "\n",
  );
}

function areaLine({ areas }: State, area: string): string {
  const { sequences, requests, successes, differences } = areas[area] as NonNullable<(typeof areas)[string]>;
  return `${area}: ${sequences} sequences, ${requests} requests, ${percent(successes, requests)} of them succeeded, ${differences} sequences differ`;
}

/** One line. */
export function summary(state: State): string {
  const requests = requestsOf(state);
  const all = Object.values(state.areas);
  const sequences = all.reduce((sum, one) => sum + one.sequences, 0);
  const differences = all.reduce((sum, one) => sum + one.differences, 0);
  const unknown = state.causes.filter(({ reason }) => reason === undefined).length;
  return `${requests} requests in ${sequences} sequences, ${(requests / Math.max(1, state.seconds)).toFixed(0)}/s; ${percent(differences, sequences)} of the sequences differ, for ${state.causes.length} causes, ${unknown} of them unknown`;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}
