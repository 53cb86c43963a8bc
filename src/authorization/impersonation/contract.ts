/** What observers of impersonation receive. Source: KEP-5284. */

/** The mode that authorized an impersonation: `legacy`, or a constrained mode. */
export type ImpersonationMode = "legacy" | "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info";

/** Receives impersonation attempts. */
export interface ImpersonationObserver {
  /** @param mode empty when no mode allowed it */
  attempted(mode: ImpersonationMode | "", allowed: boolean, seconds: number): void;
  /** One authorization was checked. */
  authorized(mode: ImpersonationMode, allowed: boolean, seconds: number): void;
}
