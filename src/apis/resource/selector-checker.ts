/** Where expressions that select devices get compiled. Who knows expressions gives an implementation; without one they are taken as they are. */
import type { StrategyContext } from "../../catalog/contract.ts";

/** What gates add to devices. */
export interface DeviceFeatures {
  /** They say whether they can be allocated several times. */
  readonly hasMultipleAllocations: boolean;
  /** Their attributes may be lists. */
  readonly hasLists: boolean;
}

export interface SelectorRequest extends DeviceFeatures {
  readonly text: string;
  /** It was there before, so that it may use what an older release let it use. */
  readonly isStored: boolean;
}

export function deviceFeatures({ gates }: Pick<StrategyContext, "gates">): DeviceFeatures {
  return {
    hasMultipleAllocations: gates.enabled("DRAConsumableCapacity"),
    hasLists: gates.enabled("DRAListTypeAttributes"),
  };
}

export interface SelectorChecker {
  /** @returns what is wrong, in upstream's words; `costly` when it may take more than one is allowed to */
  check(request: SelectorRequest): { readonly problem: string } | "costly" | undefined;
}

export type LoadSelectorChecker = () => Promise<SelectorChecker>;
