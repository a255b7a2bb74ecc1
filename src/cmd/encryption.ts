import type { GroupResource } from '#apimachinery/meta/types';
import type { Scheme } from '#apiserver/registry/scheme';
import type { TransformersOf } from '#apiserver/storage/value/encrypted-storage';
import type { TransformerChain } from '#apiserver/storage/value/transformer';
import { type EncryptionRule, ruleFor } from './config/encryption-configuration.ts';

/**
 * How values are written, by their keys. Built-in resources are found by where they are stored; other keys of two segments
 * or more, `/example.com/widgets/…`, are of custom resources. What is no resource stays as it is.
 */
export function transformersFor(rules: readonly EncryptionRule[], scheme: Scheme): TransformersOf {
  const known = new Map<string, TransformerChain | undefined>();
  let builtIn: ReadonlyMap<string, GroupResource> | undefined;
  return (key) => {
    const place = placeOf(key);
    if (known.has(place)) return known.get(place);
    builtIn ??= new Map(
      scheme.groups
        .flatMap(({ resources }) => resources)
        .flatMap((one) => (one.storagePath === undefined ? [] : [[one.storagePath, one] as const])),
    );
    const [first = '', second = ''] = place.split('/');
    const resource = builtIn.get(place) ?? builtIn.get(first) ?? (first.includes('.') ? { group: first, resource: second } : undefined);
    const transformers = resource && ruleFor(rules, resource);
    known.set(place, transformers);
    return transformers;
  };
}

/** The first two segments: no resource is stored deeper. */
function placeOf(key: string): string {
  const second = key.indexOf('/', 1);
  const third = second < 0 ? -1 : key.indexOf('/', second + 1);
  return key.slice(1, third < 0 ? undefined : third);
}
