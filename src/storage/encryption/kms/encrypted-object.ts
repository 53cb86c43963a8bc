/**
 * The stored form of a value whose key a key management service has encrypted.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/envelope/kmsv2/envelope.go.
 */
import { createHash, createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { validateDomain } from "../../../apimachinery/validation/domain.ts";
import { decodeMessage, encodeMessage } from "../../../lib/grpc/codec.ts";
import { joinErrors } from "../../../lib/json/quote.ts";
import { openGcm, sealGcm, tooShort } from "../aes.ts";
import { type Annotation, type EncryptedObject, encryptedObject, sourceTypes } from "./messages.ts";

/** What a value needs to be decrypted, except for its data. */
export type KeySource = Omit<EncryptedObject, "encryptedData">;

/** A decrypted key, or the seed of keys. */
export interface DataKey {
  readonly sourceType: number;
  readonly secret: Buffer;
}

const annotationBytesMax = 32 * 1024;
const keyIdBytesMax = 1024;
const sourceBytesMax = 1024;
/** Of the seed, and of the random bytes that a key is derived from. */
export const seedBytes = 32;

/** @throws Error when the bytes are not those of a value, or break a limit */
export function readObject(data: Buffer): EncryptedObject {
  const object = decodeMessage<EncryptedObject>(encryptedObject, data);
  checkObject(object);
  return object;
}

export function writeObject(object: EncryptedObject): Buffer {
  return encodeMessage(encryptedObject, object);
}

/** @throws Error */
function checkObject(object: EncryptedObject): void {
  if (!(Object.values(sourceTypes) as number[]).includes(object.sourceType))
    throw new Error(`unknown encryptedDEKSourceType: ${object.sourceType}`);
  if (object.encryptedData.length === 0) throw new Error("encrypted data is empty");
  checkSource(object);
}

/** @throws Error when the service has sent what cannot be stored */
export function checkSource({ encryptedSource: { length }, keyId, annotations = [] }: KeySource): void {
  if (length === 0) throw new Error("failed to validate encrypted DEK source: encrypted DEK source is empty");
  if (length > sourceBytesMax)
    throw new Error(
      `failed to validate encrypted DEK source: encrypted DEK source is ${length} bytes, which exceeds the max size of ${sourceBytesMax}`,
    );
  const problem = keyIdProblem(keyId);
  if (problem !== undefined) throw new Error(`failed to validate key id: ${problem.text}`);
  const problems = annotationProblems(annotations);
  if (problems !== "") throw new Error(`failed to validate annotations: ${problems}`);
}

/** @returns why the id cannot be used, and the code of it in metrics */
export function keyIdProblem(keyId: string): { readonly code: string; readonly text: string } | undefined {
  const bytes = Buffer.byteLength(keyId);
  if (bytes === 0) return { code: "empty", text: "keyID is empty" };
  if (bytes <= keyIdBytesMax) return undefined;
  return { code: "too_long", text: `keyID is ${bytes} bytes, which exceeds the max size of ${keyIdBytesMax}` };
}

function annotationProblems(annotations: readonly Annotation[]): string {
  const errors = new FieldErrors();
  let bytes = 0;
  for (const { key, value } of annotations) {
    validateDomain(key, "annotations", errors);
    bytes += Buffer.byteLength(key) + value.length;
  }
  const texts = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  if (bytes > annotationBytesMax)
    texts.push(`total size of annotations is ${bytes}, which exceeds the max size of ${annotationBytesMax}`);
  return joinErrors(texts);
}

/** Identifies the key of a value. */
export function sourceId({ sourceType, encryptedSource, keyId, annotations = [] }: KeySource): string {
  const hash = createHash("sha256");
  const add = (bytes: Buffer | string): void => {
    hash.update(`${Buffer.byteLength(bytes)}:`).update(bytes);
  };
  hash.update(`${sourceType};`);
  add(encryptedSource);
  add(keyId);
  for (const { key, value } of annotations.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    add(key);
    add(value);
  }
  return hash.digest("base64");
}

/**
 * Encrypts with a key that is derived from the seed and the random bytes at the start of the result.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/aes/aes_extended_nonce.go; RFC 5869, "HKDF-Expand".
 */
export function sealWithSeed(seed: Buffer, random: Buffer, plain: Buffer, path: string): Buffer {
  return sealGcm(derivedKey(seed, random), plain, path, { lead: random });
}

/** @throws Error */
export function openWithKey({ sourceType, secret }: DataKey, data: Buffer, path: string): Buffer {
  if (sourceType === sourceTypes.key) return openGcm(createSecretKey(secret), data, path);
  if (data.length < seedBytes) throw new Error(tooShort);
  return openGcm(derivedKey(secret, data.subarray(0, seedBytes)), data.subarray(seedBytes), path);
}

/** A key of 32 bytes is the first block of the expansion. */
function derivedKey(seed: Buffer, random: Buffer): KeyObject {
  return createSecretKey(createHmac("sha256", seed).update(random).update(firstBlock).digest());
}
const firstBlock = Buffer.from([1]);
