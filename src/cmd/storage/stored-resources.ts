import type { GroupResource } from '#apimachinery/meta/types';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';

/** Returns the first two segments of a key, which identify a resource. */
export function placeOf(key: string): string {
  const second = key.indexOf('/', 1);
  const third = second < 0 ? -1 : key.indexOf('/', second + 1);
  return key.slice(1, third < 0 ? undefined : third);
}

/**
 * Returns a lookup of the resource that is stored at a path. Built-in resources are identified by their storage path, in any version; other
 * paths with two segments, `example.com/widgets`, belong to custom resources. Undefined: no resource.
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
