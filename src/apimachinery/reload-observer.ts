/** Is told what becomes of a configuration file that is followed. */
export interface ReloadObserver {
  /** What the server started with. */
  started(content: Uint8Array): void;
  /** New content is in use. */
  succeeded(content: Uint8Array): void;
  /** New content cannot be used, or nothing can be read. */
  failed(): void;
}
