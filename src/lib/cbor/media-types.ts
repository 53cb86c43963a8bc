/** Source: resource-api §4.4. */
export const cborType = "application/cbor";
/** Items one after the other: what a watch is answered with. */
export const cborSequenceType = "application/cbor-seq";
export const applyPatchCborType = "application/apply-patch+cbor";
