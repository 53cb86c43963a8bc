/** What the commands share. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export type OutputFormat = "text" | "json";

export const exitWhole = 0;
/** Something is damaged; what was asked for has been done all the same. */
export const exitDamaged = 1;
/** What was asked for has not been done. */
export const exitFailed = 2;

/** Above the revision that is found, the one that a store goes on with; any number of writes that nothing in it knows of may have been between. */
export const bumpDefault = 1_000_000_000;
/** A revision and the index of a change are one safe integer. */
export const revisionMax = 2 ** 46;
