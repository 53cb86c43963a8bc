/** Loads a library that creates certificates and requests independently of the server's code. */
export async function loadX509(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata"); // Its dependency injection requires it.
  return import("@peculiar/x509");
}
