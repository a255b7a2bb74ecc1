import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/codec';

/** The object with its metadata alone. */
export function encodePartial(object: KubeObject, version: string): string {
  return encode(metaSchema.struct('meta_v1.PartialObjectMetadata'), {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  });
}
