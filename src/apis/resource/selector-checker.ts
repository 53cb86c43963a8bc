/** Compiles the CEL selectors of devices. Without an implementation, selectors are not checked. */
import type { StrategyContext } from "../../catalog/strategy-contract.ts";

/** Features of devices that depend on feature gates. */
export interface DeviceFeatures {
  /** Devices may allow multiple allocations. */
  readonly hasMultipleAllocations: boolean;
  /** Attributes may be lists. */
  readonly hasLists: boolean;
}

interface SelectorRequest extends DeviceFeatures {
  readonly text: string;
  /**
   * The stored object has the same expression, so that it may use libraries that new expressions
   * may not.
   */
  readonly isStored: boolean;
}

/** Reads the feature gates. */
export function deviceFeatures({ gates }: Pick<StrategyContext, "gates">): DeviceFeatures {
  return {
    hasMultipleAllocations: gates.enabled("DRAConsumableCapacity"),
    hasLists: gates.enabled("DRAListTypeAttributes"),
  };
}

/** Compiles selectors. */
export interface SelectorChecker {
  /**
   * @returns upstream's message for an invalid expression; `costly` if its estimated cost exceeds
   *   the limit
   */
  check(request: SelectorRequest): { readonly problem: string } | "costly" | undefined;
}

/** Loads the implementation on first use. */
export type LoadSelectorChecker = () => Promise<SelectorChecker>;
