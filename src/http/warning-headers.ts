/** Warnings as headers. Source: RFC 7234 §5.5, resource-api §4.10; apiserver's warning filter, whose bounds these are. */

/** Characters of all warnings together, beyond which each is cut. */
const totalMax = 4096;
/** Characters of a warning that is cut. */
const cutMax = 256;

/**
 * Code 299, each text once, in order, a header line each. What cannot stand in a header is left out. When all are longer than the total, each is cut,
 * and no more are told once the total is reached.
 * @returns values whose characters are the bytes of UTF-8
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== "");
  const tellable = texts.filter((text) => text.isWellFormed() && !control.test(text));
  if (lengthOf(tellable) <= totalMax) return tellable.map(headerOf);
  const told: string[] = [];
  let total = 0;
  // Those up to the one that went beyond are cut in any case; more are told while there is room.
  const beyond = firstBeyond(tellable);
  for (const [index, text] of tellable.entries()) {
    if (index > beyond && total >= totalMax) break;
    const cut = [...text].slice(0, cutMax);
    total += cut.length;
    told.push(headerOf(cut.join("")));
  }
  return told;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what may not stand in a header.
const control = /[\0-\x1f\x7f-\x9f]/;

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + [...text].length, 0);
}

function firstBeyond(texts: readonly string[]): number {
  let total = 0;
  return texts.findIndex((text) => {
    total += [...text].length;
    return total > totalMax;
  });
}

function headerOf(text: string): string {
  const bytes = Buffer.from(text).toString("latin1");
  return `299 - "${bytes.replace(/[\\"]/g, "\\$&")}"`;
}
