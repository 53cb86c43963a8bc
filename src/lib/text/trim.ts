/**
 * Removes characters from the ends of a text. A pattern such as `/0+$/` takes quadratic time: it is
 * tried again at each character of each run.
 */

/** Removes all of the characters from the end, as Go's `strings.TrimRight` does. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Removes all of the characters from the start, as Go's `strings.TrimLeft` does. */
export function trimStartOf(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start++;
  return text.slice(start);
}

/** Removes all of the characters from both ends, as Go's `strings.Trim` does. */
export function trimOf(text: string, characters: string): string {
  return trimStartOf(trimEndOf(text, characters), characters);
}
