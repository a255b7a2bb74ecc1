import type { Node, Pod } from 'kubenest/types/core_v1';
import { type HostPort, hostPortsOf, portsConflict, portsTaken } from '../../common/host-ports.ts';
import { failedMount, type LifeOutcome, type PodAddresses, type PodHost, type PodRejection } from '../pods/pod-life.ts';
import type { FileStore } from '../pods/file-store.ts';
import { AddressPool } from './address-pool.ts';

/** Network of the pods of a node without a pod CIDR. */
const otherPods = '10.191.0.0/16';

/** A simulated node with its memory of pods beyond their objects: addresses, host ports, pulled images, and pods that got SIGTERM. */
export class SimulatedNode implements PodHost {
  readonly #addresses: AddressPool;
  readonly #images = new Set<string>();
  readonly #killing = new Set<string>();
  /** Failed attempts to mount the volumes of a pod, by UID. */
  readonly #mountFailures = new Map<string, number>();
  /** Host ports of the pods that were admitted and have not ended, by UID. */
  readonly #ports = new Map<string, readonly HostPort[]>();

  constructor(
    public node: Node,
    readonly files: FileStore,
  ) {
    this.#addresses = new AddressPool(node.spec?.podCIDR || otherPods);
  }

  update(node: Node): void {
    this.node = node;
  }

  hasImage(image: string): boolean {
    return this.#images.has(image);
  }

  isKilling({ metadata }: Pod): boolean {
    return this.#killing.has(metadata.uid ?? '');
  }

  mountFailures({ metadata }: Pod): number {
    return this.#mountFailures.get(metadata.uid ?? '') ?? 0;
  }

  addressesOf({ metadata, spec }: Pod): PodAddresses {
    const hostIP = this.node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1';
    return { hostIP, podIP: spec?.hostNetwork ? hostIP : this.#addresses.addressOf(metadata.uid ?? '') };
  }

  /** Refuses a pod whose host port is taken. Upstream: kubernetes/pkg/kubelet/lifecycle/predicate.go. */
  admit(pod: Pod): PodRejection | undefined {
    const ports = hostPortsOf(pod);
    if (ports.length === 0) return undefined;
    const uid = pod.metadata.uid ?? '';
    const isTaken = [...this.#ports].some(
      ([other, taken]) => other !== uid && taken.some((one) => ports.some((port) => portsConflict(one, port))),
    );
    if (isTaken) return { reason: 'NodePorts', message: `Predicate NodePorts failed: ${portsTaken}` };
    this.#ports.set(uid, ports);
    return undefined;
  }

  /** Takes over the address and the ports of a pod that had them before. */
  adopt(pod: Pod): void {
    const { metadata, spec, status } = pod;
    const ports = hostPortsOf(pod);
    if (status?.phase === 'Failed' || status?.phase === 'Succeeded') this.#ports.delete(metadata.uid ?? '');
    else if (status?.startTime && ports.length > 0) this.#ports.set(metadata.uid ?? '', ports);
    if (status?.podIP && !spec?.hostNetwork) this.#addresses.adopt(metadata.uid ?? '', status.podIP);
  }

  /** Remembers the effects of a step. */
  happened(pod: Pod, { status, events }: LifeOutcome): void {
    const { metadata, spec } = pod;
    // A failed probe kills a container, too, and the pod continues.
    if (metadata.deletionTimestamp !== undefined && events.some(({ reason }) => reason === 'Killing'))
      this.#killing.add(metadata.uid ?? '');
    if (events.some(({ reason }) => reason === failedMount)) this.#mountFailures.set(metadata.uid ?? '', this.mountFailures(pod) + 1);
    if (!status) return;
    const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
    const started = new Set(statuses.filter(({ containerID }) => containerID).map(({ name }) => name));
    for (const { name, image } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])])
      if (started.has(name) && image) this.#images.add(image);
  }

  forget({ metadata }: Pod): void {
    this.#addresses.release(metadata.uid ?? '');
    this.#killing.delete(metadata.uid ?? '');
    this.#mountFailures.delete(metadata.uid ?? '');
    this.#ports.delete(metadata.uid ?? '');
  }
}
