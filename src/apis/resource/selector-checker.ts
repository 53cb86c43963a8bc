/** Where expressions that select devices get compiled. Who knows expressions gives an implementation; without one they are taken as they are. */

export interface SelectorRequest {
  readonly text: string;
  /** It was there before, so that it may use what an older release let it use. */
  readonly isStored: boolean;
  /** Devices say whether they can be allocated several times. */
  readonly hasMultipleAllocations: boolean;
}

export interface SelectorChecker {
  /** @returns what is wrong, in upstream's words; `costly` when it may take more than one is allowed to */
  check(request: SelectorRequest): { readonly problem: string } | "costly" | undefined;
}

export type LoadSelectorChecker = () => Promise<SelectorChecker>;
