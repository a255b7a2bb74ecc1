import { deepEqual } from '#apimachinery/runtime/equality';
import { now } from '#apimachinery/runtime/time';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import type { ServiceCIDR } from '#kubernetes/schema/networking_v1.gen';
import { serviceCIDRs } from './cluster-ip-allocator.ts';

const name = 'kubernetes';
const controllerName = 'kubernetes-service-cidr-controller';
const pollMs = 20;

/**
 * Maintains the ServiceCIDR `kubernetes` with the ranges of `--service-cluster-ip-range`. One with other ranges is kept, since other
 * servers may have other flags. Upstream: controlplane/controller/defaultservicecidr.
 */
export class DefaultServiceCIDR {
  #first: Promise<void> | undefined;

  /** `cidrs` has the default family first. `warn` is called once for a ServiceCIDR that differs from them. */
  constructor(
    readonly client: LoopbackClient,
    readonly cidrs: readonly string[],
    readonly warn: (message: string) => void,
  ) {}

  /** Resolves when allocation is possible: the object exists, and the cache that allocators read contains it. */
  whenPresent(): Promise<void> {
    this.#first ??= this.#untilKnown().catch((error: unknown) => {
      // The next call retries.
      this.#first = undefined;
      throw error;
    });
    return this.#first;
  }

  async #untilKnown(): Promise<void> {
    await this.ensure();
    while (!this.client.peek(serviceCIDRs, '', name)) {
      // The object exists, unless it was deleted meanwhile.
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      await this.ensure();
    }
  }

  async ensure(): Promise<void> {
    const present = (await this.client.get(serviceCIDRs, '', name)) as ServiceCIDR | undefined;
    const cidrs = present?.spec?.cidrs ?? [];
    if (!present) {
      await this.client.ensure(serviceCIDRs, {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name },
        spec: { cidrs: [...this.cidrs] },
      });
    } else if (this.cidrs.length === 2 && cidrs.length === 1 && cidrs[0] === this.cidrs[0]) {
      await this.client.update(serviceCIDRs, '', name, (object) => ({ ...object, spec: { cidrs: [...this.cidrs] } }));
    }
  }

  /** Sets the condition Ready, unless there is one. */
  async ensureStatus(): Promise<void> {
    const present = (await this.client.get(serviceCIDRs, '', name)) as ServiceCIDR | undefined;
    if (!present || present.metadata.deletionTimestamp) return;
    if (!deepEqual(present.spec?.cidrs, this.cidrs)) {
      this.warn(`the default ServiceCIDR ${JSON.stringify(present.spec?.cidrs)} does not match the flag ${JSON.stringify(this.cidrs)}`);
      return;
    }
    const condition = present.status?.conditions?.find(({ type }) => type === 'Ready');
    if (condition && condition.status !== 'Unknown') return;
    await this.client.as(controllerName).apply(
      { ...serviceCIDRs, subresource: 'status' },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name },
        status: {
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now(), message: 'Kubernetes default Service CIDR is ready' }],
        },
      },
    );
  }
}
