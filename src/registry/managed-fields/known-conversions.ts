/**
 * Merging compares objects at the versions of all who manage fields, and does not wait. Where a converter takes his time, it is done again and again,
 * each time with one more conversion known, until it needs no other.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { Converter } from "../../catalog/converter.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import type { PlainMap } from "../../lib/structured-merge/typed.ts";

/** Of one write: two for each version that manages something, and two for what an apply takes away. */
const conversionsMax = 200;

/**
 * @param run does not change what it is given; called again for each conversion that it asks for
 * @returns what it returns; a promise only where there is a converter
 * @throws ApiError 500 when something cannot be converted
 */
export function withConversions<T>(
  { resource }: Resolved,
  run: (known: KnownConversions | undefined) => T,
): T | Promise<T> {
  const { converter } = resource.definition;
  return converter === undefined ? run(undefined) : again(new KnownConversions(converter), run);
}

async function again<T>(known: KnownConversions, run: (known: KnownConversions) => T): Promise<T> {
  for (let left = conversionsMax; ; left--) {
    try {
      return run(known);
    } catch (error) {
      if (!(error instanceof NeedsConversion) || left === 0) throw error;
      await known.make(error);
    }
  }
}

class NeedsConversion extends Error {
  readonly key: string;
  readonly json: string;
  readonly to: string;

  constructor(key: string, json: string, to: string) {
    super("this merge needs a conversion that is not known yet");
    this.key = key;
    this.json = json;
    this.to = to;
  }
}

export class KnownConversions {
  readonly #converter: Converter;
  readonly #made = new Map<string, KubeObject>();

  constructor(converter: Converter) {
    this.#converter = converter;
  }

  /** @returns the object itself, or one that must not be changed @throws NeedsConversion, which withConversions catches */
  convert(object: PlainMap, from: string, to: string): PlainMap {
    if (from === to) return object;
    if (!Object.hasOwn(object, "metadata")) return { ...object, apiVersion: to }; // Nothing to speak of, as before a creation.
    const json = encodeSorted({ ...object, apiVersion: from });
    const key = `${to} ${json}`;
    const made = this.#made.get(key);
    if (made === undefined) throw new NeedsConversion(key, json, to);
    return made as unknown as PlainMap;
  }

  async make({ key, json, to }: NeedsConversion): Promise<void> {
    const [made] = await this.#converter.convert([Buffer.from(json)], to, "object");
    this.#made.set(key, made as KubeObject);
  }
}
