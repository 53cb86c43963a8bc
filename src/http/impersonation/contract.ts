/** What is told of requests in another's name. */

/** How a caller became another user: `legacy`, or a constrained way. */
export type ImpersonationMode = "legacy" | "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info";

export interface ImpersonationObserver {
  /** @param mode empty where no way was open */
  attempted(mode: ImpersonationMode | "", allowed: boolean, seconds: number): void;
  /** The authorizer was asked. */
  asked(mode: ImpersonationMode, allowed: boolean, seconds: number): void;
}
