/**
 * Conversions for a merge, which is synchronous and compares objects at the versions of all
 * managers. With a conversion webhook, the merge runs again after each missing conversion, until it
 * has all.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { Converter } from "../../catalog/converter.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import type { PlainMap } from "../../lib/structured-merge/typed.ts";

/** Per write: two for each version of a manager, and two for fields that an apply removes. */
const conversionsMax = 200;

/**
 * Runs a merge, again after each conversion that it needs.
 * @param run must not change its inputs; called once per missing conversion
 * @returns what `run` returns
 * @throws ApiError 500 when a conversion fails
 */
export async function withConversions<T>(
  { resource }: Resolved,
  run: (conversions: Conversions | undefined) => T,
): Promise<T> {
  const { converter } = resource.definition;
  return converter === undefined ? run(undefined) : runUntilConverted(new Conversions(converter), run);
}

async function runUntilConverted<T>(conversions: Conversions, run: (conversions: Conversions) => T): Promise<T> {
  for (let left = conversionsMax; ; left--) {
    try {
      return run(conversions);
    } catch (error) {
      if (!(error instanceof NeedsConversion) || left === 0) throw error;
      await conversions.make(error);
    }
  }
}

class NeedsConversion extends Error {
  readonly key: string;
  readonly json: string;
  readonly to: string;

  constructor(key: string, json: string, to: string) {
    super("this merge needs another conversion");
    this.key = key;
    this.json = json;
    this.to = to;
  }
}

/** The conversions of one write. */
export class Conversions {
  readonly #converter: Converter;
  readonly #converted = new Map<string, KubeObject>();

  constructor(converter: Converter) {
    this.#converter = converter;
  }

  /**
   * Converts an object. Fields that the schema of the version does not declare stay, and fail its
   * validation, as in upstream.
   * @returns the object itself, or one that must not be changed
   * @throws NeedsConversion, which `withConversions` catches
   */
  convert(object: PlainMap, from: string, to: string): PlainMap {
    if (from === to) return object;
    if (!Object.hasOwn(object, "metadata")) return { ...object, apiVersion: to }; // Empty, as before a creation.
    const json = encodeSorted({ ...object, apiVersion: from });
    const key = `${to} ${json}`;
    const converted = this.#converted.get(key);
    if (converted === undefined) throw new NeedsConversion(key, json, to);
    return converted as unknown as PlainMap;
  }

  async make({ key, json, to }: NeedsConversion): Promise<void> {
    const [converted] = await this.#converter.convert([Buffer.from(json)], to, "object");
    this.#converted.set(key, converted as KubeObject);
  }
}
