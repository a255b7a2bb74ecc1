import type { GroupVersionKind, GroupVersionResource, KubeObject, TypeMeta } from '#apimachinery/meta/types';
import type { Operation } from '#apiserver/request/admission-context';

/** Options of a connection, such as a PodExecOptions: they have no metadata. */
export interface ConnectionOptions extends TypeMeta {
  readonly [option: string]: unknown;
}

/** Subresource of a kind: the type of its objects, and the operations that admission has for it. */
export interface SubresourceFacts {
  readonly object: object;
  readonly operations: Operation;
}

/** Facts of a kind for the compiler. */
export interface KindFacts {
  readonly operations: Operation;
  readonly isNamespaced: boolean;
  readonly subresources: { readonly [name: string]: SubresourceFacts };
}

declare const typeOfObjects: unique symbol;
declare const factsOfKind: unique symbol;

/** Type of the objects of a resource, known to the compiler only. */
export interface OfType<T> {
  readonly [typeOfObjects]?: T;
}

/** The type of the objects of a resource or match; Unknown if the compiler does not know it. */
export type TypeOf<Typed, Unknown> = typeof typeOfObjects extends keyof Typed ? (Typed extends OfType<infer T> ? T : Unknown) : Unknown;

/**
 * A kind as a value: it names the resource, and the compiler knows the type of its objects. It can be given wherever a resource is
 * expected: `informers.for(Pod)` returns an `Informer<Pod>`.
 */
export interface Kind<T = KubeObject, Facts extends KindFacts = KindFacts> extends KindNames, OfType<T> {
  readonly [factsOfKind]?: Facts;
}

/** Facts of a kind that no table describes: its `status` and `scale` may be served or not. */
export interface CustomKindFacts<T> extends KindFacts {
  readonly operations: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly isNamespaced: boolean;
  readonly subresources: {
    readonly status: { readonly object: T & object; readonly operations: 'UPDATE' };
    readonly scale: { readonly object: KubeObject; readonly operations: 'UPDATE' };
  };
}

/** Names of a kind and its resource. */
export interface KindNames extends GroupVersionKind, GroupVersionResource {
  readonly isClusterScoped?: boolean;
}

/**
 * Returns a kind of custom resources, or a built-in kind in another version than that of `kubenest/kinds`:
 *
 *     const Widget = kindOf<Widget>({ group: 'w.example.com', version: 'v1', kind: 'Widget', resource: 'widgets' });
 */
export function kindOf<T extends KubeObject>(names: KindNames): Kind<T, CustomKindFacts<T>> {
  return names;
}
