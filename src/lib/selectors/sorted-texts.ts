/** Sorted lists of text, which cost less than sets: most are built for one question. Source: ours. */

/** Sorts a list, in place, and removes repeated texts. */
export function sortedTexts(texts: string[]): readonly string[] {
  texts.sort();
  let isStrict = true;
  for (let index = 1; isStrict && index < texts.length; index++) isStrict = texts[index] !== texts[index - 1];
  return isStrict ? texts : texts.filter((text, index) => index === 0 || text !== texts[index - 1]);
}

/** @returns the index of a text in a sorted list; -1 if it is not there */
export function indexInSorted(texts: readonly string[], text: string): number {
  let low = 0;
  let high = texts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((texts[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return texts[low] === text ? low : -1;
}
