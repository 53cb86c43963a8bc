import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { builtinSchema } from "../../resource/builtin-schemas.ts";
import type { Shown } from "./contract.ts";

const metaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** @param object as the wire has it, of a kind of `meta/v1` that is served as `v1`: a Status, a discovery document */
export function metaObject(object: { readonly kind: string }): Shown {
  return {
    apiVersion: "v1",
    kind: object.kind,
    json: () => Buffer.from(JSON.stringify(object)),
    message: () => encodeProtobuf(object, builtinSchema(`${metaPackage}.${object.kind}`)),
  };
}
