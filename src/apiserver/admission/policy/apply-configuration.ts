/** Merges apply configurations of policies. Upstream: apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go. */
import { merge } from '#apimachinery/managedfields/merge';
import type { Shape } from '#apimachinery/managedfields/shape';
import { validate } from '#apimachinery/managedfields/validate';
import type { KubeObject } from '#apimachinery/meta/types';
import { isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';

/** Returns the merged object, which shares parts with the unchanged arguments. Throws an Error in upstream's words. */
export function applyConfiguration(shape: Shape | undefined, live: KubeObject, configuration: JsonObject): unknown {
  if (!shape) throw new Error('type converter must not be nil');
  within('failed to convert patch object to typed object', () => validate(shape, configuration));
  const atomics = atomicsIn(shape, configuration, '');
  if (atomics.length > 0)
    throw new Error(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  return within('failed to merge patch', () => merge(shape, live, configuration));
}

function within<T>(context: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(`${context}: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the paths of all atomic lists, maps and structs that a configuration sets. */
function atomicsIn(shape: Shape, value: unknown, path: string): string[] {
  if (shape.kind === 'map' && isJsonObject(value)) {
    const inner = Object.entries(value).flatMap(([name, member]) => {
      const field = shape.fields.get(name);
      return field ? atomicsIn(field.shape, member, `${path}.${name}`) : [];
    });
    return shape.atomic ? [path, ...inner] : inner;
  }
  if (shape.kind === 'list' && Array.isArray(value)) {
    const inner = value.flatMap((item, index) => atomicsIn(shape.items, item, `${path}[${index}]`));
    return shape.atomic ? [path, ...inner] : inner;
  }
  return [];
}
