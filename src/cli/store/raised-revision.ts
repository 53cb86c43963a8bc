/** The revision that a store goes on with when others than those it knows of may have been handed out. */
import { revisionMax } from "./contract.ts";

/** @throws Error when there is none that high */
export function raisedRevision(revision: number, bump: number): number {
  const raised = revision + bump;
  if (raised >= revisionMax)
    throw new Error(`revision ${revision} cannot be raised by ${bump}: revisions end at ${revisionMax}`);
  return raised;
}
