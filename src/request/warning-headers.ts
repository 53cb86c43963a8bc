/**
 * `Warning` headers. Source: RFC 7234, section 5.5; limits of
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/warning.go.
 */

/** Characters of all warnings together, above which each is truncated. */
const totalMax = 4096;
/** Characters of a truncated warning. */
const cutMax = 256;

/**
 * Formats warnings with code 299, each text once, in order, one header line each. Texts that are
 * not valid in a header are dropped. Above the total limit, each text is truncated, and those
 * exceeding the limit are dropped.
 * @returns values whose characters are the bytes of UTF-8
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== "");
  const valid = texts.filter((text) => text.isWellFormed() && !control.test(text));
  if (lengthOf(valid) <= totalMax) return valid.map(headerOf);
  const sent: string[] = [];
  let total = 0;
  // Texts up to the one that exceeds the limit are always sent truncated; later ones while there is
  // room.
  const exceeding = firstBeyond(valid);
  for (const [index, text] of valid.entries()) {
    if (index > exceeding && total >= totalMax) break;
    const cut = [...text.slice(0, 2 * cutMax)].slice(0, cutMax); // A character has at most two code units.
    total += cut.length;
    sent.push(headerOf(cut.join("")));
  }
  return sent;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finds control characters.
const control = /[\0-\x1f\x7f-\x9f]/;

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + charactersOf(text), 0);
}

function firstBeyond(texts: readonly string[]): number {
  let total = 0;
  return texts.findIndex((text) => {
    total += charactersOf(text);
    return total > totalMax;
  });
}

/** Counts the characters; of a long text, at least those that exceed the limit. */
function charactersOf(text: string): number {
  return [...text.slice(0, 2 * (totalMax + 1))].length;
}

function headerOf(text: string): string {
  const bytes = Buffer.from(text).toString("latin1");
  return `299 - "${bytes.replace(/[\\"]/g, "\\$&")}"`;
}
