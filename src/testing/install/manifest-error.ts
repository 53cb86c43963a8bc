/** A manifest is not valid; the message says where. */
export class ManifestError extends Error {
  constructor(place: string, problem: string) {
    super(`${place}: ${problem}`);
    this.name = "ManifestError";
  }
}
