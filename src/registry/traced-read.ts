import { activeSpan, type Span } from "../apimachinery/spans.ts";

/**
 * Waits for the state of a watch cache, and reports that to the trace of the request.
 * Source: `waitUntilFreshAndBlock` in k8s.io/apiserver@v0.36.0/pkg/storage/cacher/watch_cache.go.
 */
export function tracedRead<State>(state: Promise<State>): Promise<State> {
  const span = activeSpan();
  return span === undefined ? state : reported(state, span);
}

async function reported<State>(state: Promise<State>, span: Span): Promise<State> {
  span.addEvent("Ready");
  span.addEvent("watchCache locked acquired");
  const reached = await state;
  span.addEvent("watchCache fresh enough");
  return reached;
}
