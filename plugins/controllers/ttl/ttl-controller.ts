import { Controller, ControllerClient, inject, type ReconcileRequest, type SharedInformer, SharedInformers } from 'kubenest/sdk';
import type { Node } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { ClusterSize } from './cluster-size.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', isClusterScoped: true } as const;
const annotation = 'node.alpha.kubernetes.io/ttl';

/**
 * Annotates nodes with the time for which kubelets keep Secrets and ConfigMaps, by the number of nodes. A node gets a new value with its
 * next change, such as a heartbeat. Upstream: pkg/controller/ttl.
 */
@Controller({ name: 'ttl-controller', for: nodes, concurrency: 5, ...asManager })
export class TtlController {
  readonly #nodes: SharedInformer<Node>;
  readonly #size = new ClusterSize();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#nodes = informers.for<Node>(nodes);
  }

  async reconcile({ name }: ReconcileRequest): Promise<void> {
    const node = this.#nodes.get('', name);
    if (!node) return;
    const seconds = this.#size.ttlSeconds(this.#nodes.list().length);
    const present = node.metadata.annotations?.[annotation];
    if (present !== undefined && /^[+-]?\d+$/.test(present) && Number(present) === seconds) return;
    const patch = { metadata: { annotations: { [annotation]: `${seconds}` } } };
    await this.client.patch(nodes, '', name, { type: 'strategic', patch });
  }
}
