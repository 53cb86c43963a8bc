/** The names protobuf goes by: upstream's, and the one of the specification. Source: resource-api §4.4. */
export const protobufMediaTypes: readonly string[] = [
  "application/vnd.kubernetes.protobuf",
  "application/vnd.svc.protobuf",
];

/** @param mediaType lower-case, without parameters */
export function isProtobuf(mediaType: string): boolean {
  return protobufMediaTypes.includes(mediaType);
}
