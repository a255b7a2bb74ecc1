import { type Clock, type ControllerClient, isAlreadyExists, isNotFound, type KubeObject, type Logger } from 'kubenest/sdk';
import { isExtendedResourceName } from '../../common/resource-names.ts';
import type { Lease } from 'kubenest/types/coordination_v1';
import type { Node } from 'kubenest/types/core_v1';
import { microTimeText } from '../time.ts';
import { nodeConditions, nodeObject, type PlannedNode } from './node-object.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' } as const;
const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const;
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } as const;
const leaseNamespace = 'kube-node-lease';
/** Upstream: KubeletConfiguration.nodeLeaseDurationSeconds, of which a quarter passes between renewals, and nodeStatusReportFrequency. */
const leaseDurationSeconds = 40;
const leaseRenewalMs = 10_000;
const statusReportMs = 5 * 60_000;
const notReadyTaint = 'node.kubernetes.io/not-ready';

/** Registers simulated nodes and sends their heartbeats: one timer for the leases of all, one for their statuses. */
export class NodeRegistrar {
  readonly #leases = new Map<string, Lease>();
  #hasNamespace = false;

  constructor(
    private readonly client: ControllerClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Creates a node, or takes over the one with the name, and removes the taint that admission gives to new nodes. */
  async register(planned: PlannedNode, kubeletPort: number | undefined, version: string): Promise<void> {
    const wanted = nodeObject(planned, kubeletPort, version, this.clock.wallTime());
    try {
      await this.client.create(nodes, wanted);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    await this.client.update(
      { ...nodes, subresource: 'status' },
      '',
      planned.name,
      (current) => ({ ...current, status: wanted.status }) as KubeObject,
    );
    await this.client.update(nodes, '', planned.name, (current) => withoutTaint(current as Node));
    await this.renew(planned.name);
  }

  /** Sends heartbeats for the nodes that `current` lists until the result is called. */
  start(current: () => Iterable<Node>): () => void {
    const stops = [
      this.clock.every(leaseRenewalMs, () => {
        for (const { metadata } of current()) void this.renew(metadata.name ?? '');
      }),
      this.clock.every(statusReportMs, () => {
        for (const node of current()) void this.#report(node);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Renews the lease of a node. A failure is logged; the next renewal follows soon. */
  async renew(name: string): Promise<void> {
    try {
      const stored = this.#leases.get(name);
      const renewTime = microTimeText(this.clock.wallTime());
      if (stored) return void this.#leases.set(name, await this.client.replace(leases, { ...stored, spec: { ...stored.spec, renewTime } }));
      this.#leases.set(name, await this.#ensureLease(name, renewTime));
    } catch (error) {
      this.#leases.delete(name);
      this.logger.warn({ node: name, reason: (error as Error).message }, 'cannot renew the lease of a simulated node');
    }
  }

  async #ensureLease(name: string, renewTime: string): Promise<Lease> {
    await this.#ensureNamespace();
    const node = await this.client.get(nodes, '', name);
    if (!node) throw new Error('the node does not exist');
    const spec = { holderIdentity: name, leaseDurationSeconds, renewTime };
    const existing = await this.client.get(leases, leaseNamespace, name);
    if (existing) return (await this.client.replace(leases, { ...existing, spec } as Lease)) as Lease;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' }];
    return (await this.client.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: leaseNamespace, ownerReferences },
      spec,
    } as Lease)) as Lease;
  }

  /** The server creates the namespace after its start, which may be later. */
  async #ensureNamespace(): Promise<void> {
    if (this.#hasNamespace) return;
    try {
      await this.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: leaseNamespace } });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    this.#hasNamespace = true;
  }

  /**
   * Makes extended resources allocatable that another client added to the capacity of a node, and removes those that are no longer in it.
   * Upstream: kubernetes/pkg/kubelet/nodestatus/setters.go (MachineInfo).
   */
  async allocate(node: Node): Promise<void> {
    const allocatable = extendedResourcesToAllocate(node);
    if (allocatable) await this.#patchStatus(node, { allocatable });
  }

  #report(node: Node): Promise<void> {
    return this.#patchStatus(node, { conditions: nodeConditions(node.status?.conditions ?? [], this.clock.wallTime()) });
  }

  async #patchStatus({ metadata }: Node, status: object): Promise<void> {
    try {
      await this.client.patch({ ...nodes, subresource: 'status' }, '', metadata.name ?? '', { type: 'strategic', patch: { status } });
    } catch (error) {
      if (!isNotFound(error))
        this.logger.warn({ node: metadata.name, reason: (error as Error).message }, 'cannot report the status of a simulated node');
    }
  }
}

/** Returns the changes of the extended resources in `allocatable`, with null for those to remove; undefined if there are none. */
function extendedResourcesToAllocate({
  status: { capacity = {}, allocatable = {} } = {},
}: Node): Record<string, string | null> | undefined {
  const changed = Object.entries(capacity).filter(([name, amount]) => isExtendedResourceName(name) && allocatable[name] !== amount);
  const removed = Object.keys(allocatable).filter((name) => isExtendedResourceName(name) && capacity[name] === undefined);
  if (changed.length === 0 && removed.length === 0) return undefined;
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)]) as Record<string, string | null>;
}

/** Returns the node without the taint of new nodes; undefined if it does not have it. */
function withoutTaint(node: Node): Node | undefined {
  const taints = node.spec?.taints ?? [];
  const left = taints.filter(({ key }) => key !== notReadyTaint);
  return left.length === taints.length ? undefined : { ...node, spec: { ...node.spec, taints: left } };
}
