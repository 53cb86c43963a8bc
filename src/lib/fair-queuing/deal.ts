/**
 * Shuffle sharding: each flow gets a hand of queues, so that few other flows have the same hand.
 * Source: KEP-1040, "Queue Assignment Proof of Concept", and
 * k8s.io/apiserver@v0.36.0/pkg/util/shufflesharding.
 */
import type { FlowHash } from "./contract.ts";

/** Bits of a hash that a deal can use without favoring some queues noticeably. */
const hashBitsMax = 60;
const deckSizeMax = 1 << 26;

/** @returns the bits of a hash that a deal needs; rounded up */
function requiredEntropyBits(deckSize: number, handSize: number): number {
  return Math.ceil(Math.log2(deckSize) * handSize);
}

/** @returns why these sizes are impossible, with upstream's text; undefined if they are possible */
export function checkDeal(deckSize: number, handSize: number): string | undefined {
  if (deckSize <= 0 || handSize <= 0) return `deckSize ${deckSize} or handSize ${handSize} is not positive`;
  if (handSize > deckSize) return `handSize ${handSize} is greater than deckSize ${deckSize}`;
  if (deckSize > deckSizeMax) return `deckSize ${deckSize} is impractically large`;
  if (requiredEntropyBits(deckSize, handSize) > hashBitsMax)
    return `required entropy bits of deckSize ${deckSize} and handSize ${handSize} is greater than ${hashBitsMax}`;
  return undefined;
}

/**
 * Deals distinct cards from 0 to `deckSize` - 1; the hash decides.
 * @param hand receives the cards; its length is the size of the hand
 */
export function dealHand({ high, low }: FlowHash, deckSize: number, hand: number[]): void {
  // A long division of the 64 bits in three digits, so that each step is exact.
  let first = high;
  let second = low >>> 16;
  let third = low & 0xffff;
  for (let index = 0; index < hand.length; index++) {
    const divisor = deckSize - index;
    const quotient = Math.floor(first / divisor);
    const middle = (first - quotient * divisor) * 0x10000 + second;
    first = quotient;
    second = Math.floor(middle / divisor);
    const last = (middle - second * divisor) * 0x10000 + third;
    third = Math.floor(last / divisor);
    hand[index] = last - third * divisor;
  }
  for (let index = hand.length - 1; index > 0; index--) hand[index] = cardAt(hand, index);
}

/** The card at the position that remains when the cards that were dealt before are skipped. */
function cardAt(positions: readonly number[], index: number): number {
  let card = positions[index] as number;
  for (let before = index - 1; before >= 0; before--) if (card >= (positions[before] as number)) card++;
  return card;
}
