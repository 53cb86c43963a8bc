/**
 * Managed fields that were read before. They are equal for all objects that one manager writes in
 * one way.
 */
import { encodeAny } from "../json/encode-any.ts";
import { JsonText } from "../json/json-text.ts";

/** Longer texts are not kept. */
const bytesMax = 4096;
/** With more texts, all are forgotten; together they have at most a few megabytes. */
const textsMax = 512;

/** A table of a limited size. */
export class JsonTexts {
  readonly #known = new Map<string, JsonText>();

  /** @returns undefined for a text that is not known */
  find(json: Buffer): JsonText | undefined {
    return json.length > bytesMax ? undefined : this.#known.get(json.toString("latin1"));
  }

  /**
   * @param json valid, and not nested deeper than plain objects may be
   * @param value its value
   */
  add(json: Buffer, value: unknown): JsonText {
    const text = new JsonText(encodeAny(value));
    if (json.length > bytesMax) return text;
    if (this.#known.size >= textsMax) this.#known.clear();
    this.#known.set(json.toString("latin1"), text);
    return text;
  }
}
