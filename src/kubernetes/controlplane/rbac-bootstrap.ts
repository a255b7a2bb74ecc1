import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { tables } from '#kubernetes/schema/schema';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { type RbacTable, withFeatures } from './rbac-features.ts';

const group = 'rbac.authorization.k8s.io';
const version = 'v1';
const kinds = {
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
} as const;
/** Users set it to `false` to keep an object as it is. */
const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate';

/**
 * Ensures the default roles and bindings: creates missing ones and restores removed rules and subjects; additions of users are kept.
 * Upstream: kubernetes/pkg/registry/rbac/rest/storage_rbac.go, component-helpers/auth/rbac/reconciliation.
 */
export async function reconcileRbac(client: LoopbackClient, features: FeatureGates): Promise<void> {
  const table = withFeatures(tables.table<RbacTable>('rbac'), (feature) => features.enabled(feature));
  await Promise.all(
    (Object.keys(kinds) as (keyof typeof kinds)[]).flatMap((resource) =>
      table[resource].map((object) => ensureRbacObject(client, resource, object)),
    ),
  );
}

/** Creates an object, or adds the rules and subjects that it lacks. `object` needs neither apiVersion nor kind. */
export async function ensureRbacObject(
  client: LoopbackClient,
  resource: keyof typeof kinds,
  object: Omit<KubeObject, 'apiVersion' | 'kind'> & Pick<KubeObject, 'metadata'>,
): Promise<void> {
  const target: LoopbackTarget = { group, version, resource };
  const wanted: KubeObject = { ...object, apiVersion: `${group}/${version}`, kind: kinds[resource] };
  const { namespace = '', name = '' } = wanted.metadata;
  const present = client.peek(target, namespace, name);
  if (!present) return client.ensure(target, wanted);
  if (present.metadata.annotations?.[autoupdate] === 'false') return undefined;
  if (present['roleRef'] !== undefined && !deepEqual(present['roleRef'], wanted['roleRef'])) {
    // The role of a binding is immutable: the binding is recreated with its subjects.
    await client.delete(target, namespace, name);
    return client.ensure(target, { ...wanted, subjects: union(wanted['subjects'], present['subjects']) });
  }
  if (!completed(present, wanted)) return undefined;
  await client.update(target, namespace, name, (object) => completed(object, wanted));
}

/** Returns the object with missing parts added; undefined if nothing is missing. */
function completed(object: KubeObject, wanted: KubeObject): KubeObject | undefined {
  const rules = wanted['aggregationRule'] === undefined ? union(object['rules'], wanted['rules']) : object['rules'];
  const subjects = union(object['subjects'], wanted['subjects']);
  const labels = { ...wanted.metadata.labels, ...object.metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...object.metadata.annotations };
  const next: KubeObject = { ...object, metadata: { ...object.metadata, labels, annotations } };
  if (rules !== undefined) next['rules'] = rules;
  if (subjects !== undefined) next['subjects'] = subjects;
  return deepEqual(next, object) ? undefined : next;
}

/** Returns the union of both lists; undefined if neither exists. */
function union(present: unknown, wanted: unknown): unknown[] | undefined {
  if (!Array.isArray(wanted)) return Array.isArray(present) ? (present as unknown[]) : undefined;
  const have = Array.isArray(present) ? (present as unknown[]) : [];
  return [...have, ...(wanted as unknown[]).filter((one) => !have.some((other) => deepEqual(one, other)))];
}
