/** Loaded when the first token is signed or checked: a start need not wait for it. */
export function loadJose(): Promise<typeof import("jose")> {
  return import("jose");
}
