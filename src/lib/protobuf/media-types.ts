/**
 * The media types of protobuf: the one of Kubernetes, and an alias. Source: Kubernetes docs,
 * "Kubernetes API Concepts", heading "Protobuf encoding".
 */
export const protobufMediaTypes: readonly string[] = [
  "application/vnd.kubernetes.protobuf",
  "application/vnd.svc.protobuf",
];

/**
 * Whether a media type is protobuf.
 * @param mediaType lower-case, without parameters
 */
export function isProtobuf(mediaType: string): boolean {
  return protobufMediaTypes.includes(mediaType);
}
