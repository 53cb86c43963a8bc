/** The media types of CBOR. Source: KEP-4222; RFC 8949; RFC 8742. */

/** One CBOR item. */
export const cborType = "application/cbor";
/** A sequence of CBOR items, used for watch responses. */
export const cborSequenceType = "application/cbor-seq";
/** A server-side apply patch in CBOR. */
export const applyPatchCborType = "application/apply-patch+cbor";
