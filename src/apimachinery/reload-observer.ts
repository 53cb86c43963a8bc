/** Receives the results of reading a configuration file that the server reloads. */
export interface ReloadObserver {
  /** The server started with this content. */
  started(content: Uint8Array): void;
  /** The server uses new content. */
  succeeded(content: Uint8Array): void;
  /** The file cannot be read, or its content is invalid. */
  failed(): void;
}
