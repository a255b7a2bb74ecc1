/** Parameter objects of bindings. Upstream: plugin/policy/generic/policy_dispatcher.go (CollectParams). */
import { labelSelectorAsSelector } from '#apimachinery/labels/selector';
import { type GroupVersionKind, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { Suspended } from '#apimachinery/runtime/suspended';
import type { KindObjects, ServedKinds } from '#apiserver/registry/served-kinds';
import type { ParamKind, ParamRef } from './policy-types.ts';

/**
 * Returns the objects of a policy's parameter kind; undefined for a policy without parameters. Throws an Error if the kind is not
 * served.
 */
export function paramObjects(kinds: ServedKinds, paramKind: ParamKind | undefined): KindObjects | undefined {
  if (!paramKind) return undefined;
  const kind: GroupVersionKind = { ...parseGroupVersion(paramKind.apiVersion ?? ''), kind: paramKind.kind ?? '' };
  const objects = kinds.find(kind);
  if (!objects) throw new Error(`failed to find resource referenced by paramKind: '${kind.group}/${kind.version}, Kind=${kind.kind}'`);
  return objects;
}

/**
 * Returns the parameters of a binding; the policy is evaluated once for each (undefined: once without parameters). `namespace` is
 * that of the request. Throws an Error if they cannot be determined, and Suspended while the cache is not ready.
 */
export function collectParams(
  objects: KindObjects | undefined,
  paramRef: ParamRef | undefined,
  namespace: string,
): readonly (KubeObject | undefined)[] {
  if (!objects || !paramRef) return [undefined];
  const scope = scopeOf(objects, paramRef, namespace);
  if (!objects.ready) throw new Suspended(objects.whenReady());
  const params = select(objects, paramRef, scope);
  if (params.length === 0 && paramRef.parameterNotFoundAction === 'Deny')
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
  return params;
}

function scopeOf({ namespaced }: KindObjects, { namespace: own = '' }: ParamRef, namespace: string): string {
  if (!namespaced) {
    if (own) throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return '';
  }
  const scope = own || namespace;
  if (!scope) throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  return scope;
}

function select(objects: KindObjects, { name, selector }: ParamRef, scope: string): readonly KubeObject[] {
  if (name) {
    if (selector) throw new Error('paramRef.name and paramRef.selector are mutually exclusive');
    const found = objects.get(scope, name);
    return found ? [found] : [];
  }
  if (!selector) throw new Error('one of name or selector must be provided');
  const chosen = labelSelectorAsSelector(selector);
  return objects.list(scope).filter(({ metadata }) => chosen.matches(metadata.labels));
}
