/** A media type that the server decodes and encodes. */
export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf' | 'application/cbor';
