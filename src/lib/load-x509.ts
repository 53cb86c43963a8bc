/** Loads the library that reads what Node's crypto does not; it is large, so that only who needs it loads it. */
export async function loadX509(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata"); // What its dependency injection asks for.
  return import("@peculiar/x509");
}
