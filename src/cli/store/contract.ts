/** Exit codes and revision limits that the `coxswain store` commands share. */

/** Exit code when nothing is damaged. */
export const exitWhole = 0;
/** The command succeeded, but something is damaged. */
export const exitDamaged = 1;

/**
 * Default distance between the last known revision and the first revision of a new store. The old
 * store may have assigned revisions that neither it nor its backup shows.
 */
export const bumpDefault = 1_000_000_000;
/** Limit of revisions: a revision and the index of a change together fit into a safe integer. */
export const revisionMax = 2 ** 46;

/**
 * The first revision of a new store, above all revisions that the old store can have assigned.
 *
 * @throws Error when it exceeds `revisionMax`
 */
export function raisedRevision(revision: number, bump: number): number {
  const raised = revision + bump;
  if (raised >= revisionMax)
    throw new Error(`revision ${revision} cannot be raised by ${bump}: revisions end at ${revisionMax}`);
  return raised;
}
