/** JSON that is encoded already, in place of a value that only an encoder reads. */

/** The compact JSON of a value, as `encodeAny` writes it. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
