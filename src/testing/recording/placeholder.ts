/** Placeholders: what a recording contains in place of secrets. */
import { createHmac, randomBytes } from "node:crypto";

/** The placeholder of a secret. The same secret has the same one within a recording. */
export interface Placeholder {
  /** Such as `redacted-5d41402abc4b2a76b9719d91`: a valid name and label. */
  readonly text: string;
  /** Its base64, which is recognizable, too: see {@link placeholderPattern}. */
  readonly base64: string;
}

/** Nine characters: the base64 of a multiple of three begins the same, whatever follows. */
const prefix = "redacted-";
const prefixBase64 = Buffer.from(prefix).toString("base64");
const hexLength = 24;

/** Matches placeholders in text, as they are and in base64. Bounded: no repetition is longer than 32 characters. */
export const placeholderPattern = new RegExp(
  `${prefix}[0-9a-f]{${hexLength}}|${prefixBase64}[A-Za-z0-9+/]{${(hexLength / 3) * 4}}`,
);

/**
 * Creates a function that computes placeholders. Its key is kept in memory only: a recording does
 * not allow to test guesses of short secrets.
 */
export function placeholders(): (secret: Buffer) => Placeholder {
  const key = randomBytes(32);
  return (secret) => {
    const text = prefix + createHmac("sha256", key).update(secret).digest("hex").slice(0, hexLength);
    return { text, base64: Buffer.from(text).toString("base64") };
  };
}
