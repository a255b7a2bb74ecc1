import type { KubeObject } from '#apimachinery/meta/types';
import { tables } from '#kubernetes/schema/schema';
import type { LoopbackClient, LoopbackTarget } from './loopback-client.ts';

type BootstrapTable = Readonly<Record<string, readonly KubeObject[]>>;

const core = { group: '', version: 'v1' } as const;
const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The namespaces that a cluster always has; made again when they are gone. Upstream: controlplane/controller/systemnamespaces. */
export async function ensureSystemNamespaces(client: LoopbackClient): Promise<void> {
  for (const name of systemNamespaces) await client.ensure({ ...core, resource: 'namespaces' }, object('v1', 'Namespace', { metadata: { name } }));
}

/** The two priority classes of system pods. Upstream: kubernetes/pkg/registry/scheduling/rest/storage_scheduling.go. */
export async function ensurePriorityClasses(client: LoopbackClient): Promise<void> {
  const target = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' };
  await ensureAll(client, target, 'scheduling.k8s.io/v1', 'PriorityClass', bootstrapTable()['scheduling.k8s.io/v1/priorityclasses'] ?? []);
}

/** The suggested and mandatory flow schemas and priority levels. Upstream: apiserver/pkg/apis/flowcontrol/bootstrap/default.go. */
export async function ensureFlowControl(client: LoopbackClient): Promise<void> {
  const group = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1' };
  const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
  const table = bootstrapTable();
  await ensureAll(client, { ...group, resource: 'prioritylevelconfigurations' }, apiVersion, 'PriorityLevelConfiguration', table[`${apiVersion}/prioritylevelconfigurations`] ?? []);
  await ensureAll(client, { ...group, resource: 'flowschemas' }, apiVersion, 'FlowSchema', table[`${apiVersion}/flowschemas`] ?? []);
}

async function ensureAll(client: LoopbackClient, target: LoopbackTarget, apiVersion: string, kind: string, objects: readonly KubeObject[]): Promise<void> {
  // The table was recorded from a running server: its status is of that run.
  await Promise.all(objects.map(({ status: _, ...one }) => client.ensure(target, { ...one, metadata: one.metadata, apiVersion, kind })));
}

export function bootstrapTable(): BootstrapTable {
  return tables.table<BootstrapTable>('bootstrap');
}

export function object(apiVersion: string, kind: string, rest: { readonly metadata: KubeObject['metadata'] } & Record<string, unknown>): KubeObject {
  return { apiVersion, kind, ...rest };
}
