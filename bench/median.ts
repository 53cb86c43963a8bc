/** The value in the middle; of an even number of values, the greater of the two. @param values at least one */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] as number;
