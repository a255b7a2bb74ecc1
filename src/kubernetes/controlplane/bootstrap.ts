import type { KubeObject } from '#apimachinery/meta/types';
import { tables } from '#kubernetes/schema/schema';
import type { LoopbackClient } from '#apiserver/server/loopback-client';

type BootstrapTable = Readonly<Record<string, readonly KubeObject[]>>;

const core = { group: '', version: 'v1' } as const;
/** Descriptions, which the recorded table lacks. */
const priorityClassDescriptions: Readonly<Record<string, string>> = {
  'system-cluster-critical': 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  'system-node-critical': 'Used for system critical pods that must not be moved from their current node.',
};
const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Creates the system namespaces, also after their deletion. Upstream: controlplane/controller/systemnamespaces. */
export async function ensureSystemNamespaces(client: LoopbackClient): Promise<void> {
  await Promise.all(
    systemNamespaces.map((name) => client.ensure({ ...core, resource: 'namespaces' }, object('v1', 'Namespace', { metadata: { name } }))),
  );
}

/** Creates the two priority classes of system pods. Upstream: kubernetes/pkg/registry/scheduling/rest/storage_scheduling.go. */
export async function ensurePriorityClasses(client: LoopbackClient): Promise<void> {
  const target = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' };
  await Promise.all(
    (bootstrapTable()['scheduling.k8s.io/v1/priorityclasses'] ?? []).map((one) =>
      client.ensure(target, {
        ...one,
        metadata: one.metadata,
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        description: priorityClassDescriptions[one.metadata.name ?? ''],
      }),
    ),
  );
}

export function bootstrapTable(): BootstrapTable {
  return tables.table<BootstrapTable>('bootstrap');
}

export function object(
  apiVersion: string,
  kind: string,
  rest: { readonly metadata: KubeObject['metadata'] } & Record<string, unknown>,
): KubeObject {
  return { apiVersion, kind, ...rest };
}
