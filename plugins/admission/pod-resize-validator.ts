import {
  AdmissionPlugin,
  type Attributes,
  forbidden,
  type Informer,
  Informers,
  inject,
  Quantity,
  quote,
  type StatusError,
} from 'kubenest/sdk';
import type { Node } from 'kubenest/kinds';
import { isPodLevelResource, podResources } from '../common/pod-resources.ts';
import type { Pod, ResourceList } from '../common/pod-walker.ts';

const osLabel = 'kubernetes.io/os';

/**
 * Denies in-place resizes that exceed the node's allocatable resources. Upstream:
 * kubernetes/plugin/pkg/admission/podresize/admission.go.
 */
@AdmissionPlugin({
  name: 'PodResizeValidator',
  match: [{ groups: [''], resources: ['pods'], subresources: ['resize'], operations: ['UPDATE'] }],
})
export class PodResizeValidator {
  readonly #nodes: Informer<Node>;

  constructor(@inject(Informers) informers: Informers) {
    this.#nodes = informers.for({ group: '', resource: 'nodes' });
  }

  validate(request: Attributes<Pod>): void {
    const pod = request.object;
    const { nodeName } = pod.spec;
    if (!nodeName || pod.metadata.generation === request.oldObject?.metadata.generation) return;
    const node = this.#nodes.get('', nodeName);
    if (!node) throw forbidden(request, `node ${quote(nodeName)} not found`);
    const os = node.metadata.labels?.[osLabel] ?? 'linux';
    if (os !== 'linux') {
      const message = `pod resize is only supported on linux nodes, node ${quote(nodeName)} is ${quote(os)}`;
      throw withCause(forbidden(request, message), 'UnsupportedPlatform');
    }
    const missing = missingOf(pod, node.status?.allocatable ?? {});
    if (missing.length > 0) {
      const message = `node didn't have enough allocatable resources: ${missing.join('; ')}`;
      throw withCause(forbidden(request, message), 'NodeCapacity');
    }
  }
}

function missingOf(pod: Pod, allocatable: ResourceList): string[] {
  const requests = podResources(pod, 'requests', { isPodLevelResource, overhead: true });
  return (['cpu', 'memory'] as const).flatMap((name) => {
    const requested = requests.get(name);
    const present = Quantity.parse(allocatable[name] ?? '0');
    if (!requested || requested.compare(present) <= 0) return [];
    const value = (quantity: Quantity): bigint => (name === 'cpu' ? quantity.milliValue() : quantity.value());
    return `${name}, requested: ${value(requested)}, allocatable: ${value(present)}`;
  });
}

function withCause(error: StatusError, reason: string): StatusError {
  error.status.details = { ...error.status.details, causes: [...(error.status.details?.causes ?? []), { reason }] };
  return error;
}
