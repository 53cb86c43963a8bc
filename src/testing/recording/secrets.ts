/** The secrets that a recording has seen, and the removal of their traces from other text. */
import { type Placeholder, placeholders } from "./placeholder.ts";
import { formLengthMin, formsOf, type SecretForm, secretParts } from "./secret-forms.ts";

/** Secrets in memory. */
export interface Secrets {
  /**
   * Remembers a secret.
   *
   * @throws Error when there are more secrets than fit into memory
   */
  add(secret: Buffer): Placeholder;
  /** A placeholder for text that is not searched elsewhere. */
  placeholderOf(text: string): string;
  /** Replaces all known secrets in a text, in every form, and texts that look like credentials. */
  clean(text: string): string;
}

/** The size of all texts that are searched, in characters. */
const formsLengthMax = 128 << 20;

/** Credentials that are recognizable by their form. Bounded: recordings that a developer makes of an own server. */
const credentials =
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|(?<=\b(?:Bearer|Basic) )[A-Za-z0-9._~+/=-]{8,}/g;

/** Starts without secrets, with a new key for placeholders. */
export function newSecrets(): Secrets {
  const compute = placeholders();
  const known = new Map<string, Placeholder>();
  const byStart = new Map<string, SecretForm[]>();
  const hashes = new Uint8Array(hashMax + 1);
  let length = 0;

  function addForms(forms: readonly SecretForm[]): void {
    for (const form of forms) {
      const start = form.text.slice(0, formLengthMin);
      const same = byStart.get(start);
      hashes[hashOfStart(start, 0)] = 1;
      if (same === undefined) byStart.set(start, [form]);
      else if (same.some(({ text }) => text === form.text)) continue;
      else insertByLength(same, form);
      length += form.text.length;
      if (length > formsLengthMax) throw new Error(`the session has more than ${formsLengthMax} bytes of secrets`);
    }
  }

  function add(secret: Buffer): Placeholder {
    const key = secret.toString("latin1");
    const before = known.get(key);
    if (before !== undefined) return before;
    const placeholder = compute(secret);
    known.set(key, placeholder);
    length += key.length;
    for (const part of secretParts(secret)) addForms(formsOf(part, part.equals(secret) ? placeholder : compute(part)));
    return placeholder;
  }

  return {
    add,
    placeholderOf: (text) => compute(Buffer.from(text)).text,
    clean(text) {
      if (text.length < formLengthMin) return text;
      const cleaned = byStart.size === 0 ? text : withoutForms(text, byStart, hashes);
      return cleaned.replace(credentials, (found) => compute(Buffer.from(found)).text);
    },
  };
}

/** The longest first: a secret can begin with another one. */
function insertByLength(forms: SecretForm[], form: SecretForm): void {
  const at = forms.findIndex(({ text }) => text.length < form.text.length);
  forms.splice(at < 0 ? forms.length : at, 0, form);
}

const hashMax = 0xffff;

/** Most positions of a text begin no form: this is found without a copy of the characters. */
function hashOfStart(text: string, at: number): number {
  const first = text.charCodeAt(at) * 0x1f3d;
  const middle = text.charCodeAt(at + 3) * 0x35b;
  const last = text.charCodeAt(at + formLengthMin - 1) * 0x11;
  return (first ^ middle ^ last) & hashMax;
}

function withoutForms(text: string, byStart: ReadonlyMap<string, readonly SecretForm[]>, hashes: Uint8Array): string {
  let out = "";
  let kept = 0;
  for (let at = 0; at + formLengthMin <= text.length; ) {
    const isStart = hashes[hashOfStart(text, at)] === 1;
    const start = isStart ? byStart.get(text.slice(at, at + formLengthMin)) : undefined;
    const form = start?.find((one) => text.startsWith(one.text, at));
    if (form === undefined) at++;
    else {
      out += text.slice(kept, at) + form.replacement;
      at += form.text.length;
      kept = at;
    }
  }
  return kept === 0 ? text : out + text.slice(kept);
}
