import { Buffer } from 'node:buffer';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { encodeProtobuf } from '#apimachinery/runtime/protobuf/protobuf';
import { encodeYaml } from '#apimachinery/runtime/yaml/yaml-emitter';
import type { MediaType } from '#apiserver/request/media-type';
import type { DiscoveryDocument } from './discovery-registry.ts';

/** Encodings of each document, cached for its lifetime. */
const forms = new WeakMap<DiscoveryDocument, Map<MediaType, Buffer>>();

/** Returns a document in a media type other than CBOR. */
export function encodedDocument(document: DiscoveryDocument, mediaType: MediaType): Buffer {
  if (mediaType === 'application/json') return document.json;
  let made = forms.get(document);
  if (!made) forms.set(document, (made = new Map()));
  let bytes = made.get(mediaType);
  if (!bytes) {
    const isYaml = mediaType === 'application/yaml';
    bytes = isYaml ? Buffer.from(encodeYaml(document.value)) : encodeProtobuf(metaSchema.struct(document.schema), document.value);
    made.set(mediaType, bytes);
  }
  return bytes;
}
