import type { GroupResource } from '#apimachinery/meta/types';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';

/** The first two segments of a key: no resource is stored deeper. */
export function placeOf(key: string): string {
  const second = key.indexOf('/', 1);
  const third = second < 0 ? -1 : key.indexOf('/', second + 1);
  return key.slice(1, third < 0 ? undefined : third);
}

/**
 * Whose objects are stored at a place. Built-in resources are found by where they are stored, in whichever version; other places of two
 * segments, `example.com/widgets`, are of custom resources. Undefined: no resource.
 */
export function resourcesByPlace(scheme: Scheme): (place: string) => ResourceDefinition | GroupResource | undefined {
  let builtIn: ReadonlyMap<string, ResourceDefinition> | undefined;
  return (place) => {
    builtIn ??= new Map(
      scheme.known
        .flatMap(({ resources }) => resources)
        .flatMap((one) => (one.storagePath === undefined ? [] : [[one.storagePath, one] as const])),
    );
    const [first = '', second = ''] = place.split('/');
    return builtIn.get(place) ?? builtIn.get(first) ?? (first.includes('.') ? { group: first, resource: second } : undefined);
  };
}
