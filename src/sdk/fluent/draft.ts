import type { KubeObject, ObjectMeta } from '#apimachinery/meta/types';

/**
 * An object before its validation, as `admit` sees it: defaults are set, but every other member may be absent, because nothing has required
 * it yet. `validate` sees objects that the API's own validation has accepted.
 */
export type Draft<T> = T extends KubeObject
  ? Partially<Omit<T, 'apiVersion' | 'kind' | 'metadata'>> & Pick<T, 'apiVersion' | 'kind'> & { metadata: ObjectMeta }
  : Partially<T>;

type Partially<T> = T extends readonly (infer Item)[] ? Partially<Item>[] : T extends object ? { [K in keyof T]?: Partially<T[K]> } : T;
