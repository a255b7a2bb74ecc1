import type { Scheme } from '#apiserver/registry/scheme';
import type { TransformersOf } from '#apiserver/storage/value/encrypted-storage';
import type { TransformerChain } from '#apiserver/storage/value/transformer';
import { type EncryptionRule, ruleFor } from './config/encryption-configuration.ts';
import { placeOf, resourcesByPlace } from './stored-resources.ts';

/**
 * How values are written, by their keys. Built-in resources are found by where they are stored; other keys of two segments
 * or more, `/example.com/widgets/…`, are of custom resources. What is no resource stays as it is.
 */
export function transformersFor(rules: readonly EncryptionRule[], scheme: Scheme): TransformersOf {
  const resourceOf = resourcesByPlace(scheme);
  const known = new Map<string, TransformerChain | undefined>();
  return (key) => {
    const place = placeOf(key);
    if (known.has(place)) return known.get(place);
    const resource = resourceOf(place);
    const transformers = resource && ruleFor(rules, resource);
    known.set(place, transformers);
    return transformers;
  };
}
