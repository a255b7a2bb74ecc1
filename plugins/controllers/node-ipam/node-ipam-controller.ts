import {
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Node } from 'kubenest/types/core_v1';
import { NodeCidrRanges } from '#sdk/internal';
import { asManager } from '../common/as-manager.ts';
import { CidrSet } from './cidr-set.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', isClusterScoped: true } as const;

/**
 * Gives nodes the addresses of their pods (`--allocate-node-cidrs`). A node that has addresses already, from these ranges or from others,
 * keeps them. Upstream: pkg/controller/nodeipam, with the RangeAllocator.
 */
@Controller({ name: 'node-ipam-controller', serviceAccount: 'node-controller', component: 'cidrAllocator', for: nodes, ...asManager })
export class NodeIpamController {
  readonly #nodes: SharedInformer<Node>;
  readonly #sets: readonly CidrSet[];
  /** True once the addresses of the existing nodes are marked as used. */
  #isPrepared = false;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(NodeCidrRanges) { pods, services }: NodeCidrRanges,
  ) {
    this.#nodes = informers.for<Node>(nodes);
    this.#sets = pods.map(({ cidr, nodePrefix }) => new CidrSet(cidr, nodePrefix));
    for (const set of this.#sets) for (const range of services) set.occupy(range);
  }

  /** The addresses of a deleted node are free again. */
  @Watches(nodes)
  *releasedBy(object: Node, old: Node | undefined): Iterable<ReconcileRequest> {
    const isDeleted = old === undefined && this.#nodes.get('', object.metadata.name ?? '') === undefined;
    if (isDeleted) this.#each(podCidrs(object), (set, cidr) => set.release(cidr));
  }

  async reconcile({ name }: ReconcileRequest): Promise<void> {
    if (this.#sets.length === 0) return;
    if (!this.#isPrepared) for (const node of this.#nodes.list()) this.#occupy(node);
    this.#isPrepared = true;
    const node = this.#nodes.get('', name);
    if (!node || node.metadata.deletionTimestamp) return;
    if (podCidrs(node).length > 0) this.#occupy(node);
    else await this.#allocate(node);
  }

  #occupy(node: Node): void {
    this.#each(podCidrs(node), (set, cidr) => set.occupy(cidr));
  }

  async #allocate(node: Node): Promise<void> {
    const allocated: string[] = [];
    let status = 'CIDRNotAvailable';
    try {
      for (const set of this.#sets) allocated.push(set.allocate());
      status = 'CIDRAssignmentFailed';
      const patch = { spec: { podCIDR: allocated[0], podCIDRs: allocated } };
      await this.client.patch(nodes, '', node.metadata.name ?? '', { type: 'strategic', patch });
    } catch (error) {
      this.#each(allocated, (set, cidr) => set.release(cidr));
      this.recorder.event(node, 'Normal', status, `Node ${node.metadata.name} status is now: ${status}`);
      throw error;
    }
  }

  /** Calls the action with each CIDR of a node and the range that it comes from. */
  #each(cidrs: readonly string[], action: (set: CidrSet, cidr: string) => void): void {
    for (const [at, set] of this.#sets.entries()) {
      const cidr = cidrs[at];
      if (cidr !== undefined) action(set, cidr);
    }
  }
}

function podCidrs({ spec }: Node): readonly string[] {
  return spec?.podCIDRs ?? [];
}
