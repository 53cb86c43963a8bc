/** Loads the library when the first token is signed or verified, to keep the startup fast. */
export function loadJose(): Promise<typeof import("jose")> {
  return import("jose");
}
