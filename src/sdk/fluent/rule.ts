import type { KubeObject } from '#apimachinery/meta/types';
import type { AdmissionMatch, Attributes } from '#apiserver/admission/attributes';

/** Attributes of a request whose objects have the type T. */
export interface PolicyRequest<T> extends Omit<Attributes, 'object' | 'oldObject'> {
  /** Object to be stored; undefined for DELETE. */
  readonly object: T;
  /** Stored object, for UPDATE and DELETE; read-only. */
  readonly oldObject: T | undefined;
}

/**
 * Checks or changes an object. `object` is the new object, for DELETE the stored one. Its result is `void`, so that `return false` does not
 * compile: `deny(request, 'why')` denies.
 */
export type RuleHandler<Object, T, Context> = (object: Object, request: PolicyRequest<T>, context: Context) => void | Promise<void>;

/** A condition on a request, in addition to its kind and operation. */
export type Condition = (object: KubeObject, request: Attributes) => boolean;

/** A rule of a policy, the result of `when(…)`. Context: what its handler takes as third argument. */
export interface Rule<Context = unknown> {
  readonly phase: 'admit' | 'validate';
  readonly match: readonly AdmissionMatch[];
  readonly conditions: readonly Condition[];
  readonly handle: (object: KubeObject, request: Attributes, context: Context) => void | Promise<void>;
}

/** Returns the object that a rule is about: the new one, for DELETE the stored one. */
export function objectOf({ object, oldObject }: Attributes): KubeObject {
  return (object as KubeObject | undefined) ?? (oldObject as KubeObject);
}

/** True if a request is one that the rule handles. */
export function selects({ match, conditions }: Rule<never>, request: Attributes): boolean {
  if (!match.some((entry) => matches(entry, request))) return false;
  const object = objectOf(request);
  return conditions.every((condition) => condition(object, request));
}

function matches(
  { groups, resources, subresources, operations }: AdmissionMatch,
  { resource, subresource, operation }: Attributes,
): boolean {
  return (
    resources.includes(resource.resource) &&
    (groups?.includes(resource.group) ?? true) &&
    (subresources?.includes(subresource) ?? subresource === '') &&
    operations.includes(operation)
  );
}
