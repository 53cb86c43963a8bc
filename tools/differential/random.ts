/** Random choices that repeat with their seed. */
import { seededRandom } from "../../test/support/seeded-random.ts";

export interface Random {
  /** An integer from 0 to below the argument. */
  below(limit: number): number;
  pick<Choice>(choices: readonly Choice[]): Choice;
  /** True in this share of the calls. @param share from 0 to 1 */
  chance(share: number): boolean;
  /** Some of the choices, each at most once, in their order. @param share of each, from 0 to 1 */
  some<Choice>(choices: readonly Choice[], share: number): Choice[];
}

/** @param seed any text */
export function openRandom(seed: string): Random {
  const below = seededRandom(hashOf(seed));
  const random: Random = {
    below,
    pick: (choices) => choices[below(choices.length)] as (typeof choices)[number],
    chance: (share) => below(1_000_000) < share * 1_000_000,
    some: (choices, share) => choices.filter(() => random.chance(share)),
  };
  return random;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
