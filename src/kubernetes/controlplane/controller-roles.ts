import type { LoopbackClient } from '#apiserver/server/loopback-client';
import { ensureRbacObject } from './rbac-bootstrap.ts';

/** A rule of a ClusterRole. */
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Grants the rules to the user of a controller: a ClusterRole `kubenest:controller:NAME` with its binding. */
export async function ensureControllerRole(
  client: LoopbackClient,
  { controller, serviceAccount, rules }: { readonly controller: string; readonly serviceAccount: string; readonly rules: readonly Rule[] },
): Promise<void> {
  const name = `kubenest:controller:${controller}`;
  const metadata = { name };
  await Promise.all([
    ensureRbacObject(client, 'clusterroles', { metadata, rules: [...rules] }),
    ensureRbacObject(client, 'clusterrolebindings', {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace: 'kube-system' }],
    }),
  ]);
}

/** Resolves when the authorizer knows all roles and bindings that were written before the call. */
export async function whenRolesAreKnown(client: LoopbackClient): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const resources = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
  await Promise.all(resources.map((resource) => client.whenCurrent({ group, version: 'v1', resource })));
}
