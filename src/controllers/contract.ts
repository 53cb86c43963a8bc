/** Something that brings the stored state towards what it should be, driven by state, not by events. */
export interface Controller {
  start(): void;
  /** Takes no new work; resolves when what is under way is done. */
  stop(): Promise<void>;
}
