import { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Logger } from '#apiserver/base/logger';
import type { ClusterApi } from '../cluster/cluster-api.ts';

const group = 'admissionregistration.k8s.io';
const resources = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
/** Interval at which the configurations are checked, in case that someone else changed them. */
const checkMs = 30_000;

interface Configuration extends KubeObject {
  readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string; readonly service?: object } }[];
}

/** Keeps the `caBundle` of the webhook configurations with one name equal to the trusted authorities. */
export class CaBundles implements Disposable {
  #bundle = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly api: ClusterApi,
    private readonly name: string,
    private readonly logger: Logger,
  ) {}

  /** Sets the bundle of the configurations, and keeps it. */
  async use(authorities: readonly string[]): Promise<void> {
    this.#bundle = Buffer.from(authorities.join('')).toString('base64');
    this.#timer ??= setInterval(() => void this.#check(), checkMs).unref();
    await this.#check();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    for (const resource of resources) {
      try {
        const changed = await this.api.client.update({ group, version: 'v1', resource }, '', this.name, (object) => this.#changed(object));
        if (changed) this.logger.info({ resource, name: this.name }, 'caBundle of the webhooks updated');
      } catch (error) {
        this.logger.warn({ resource, name: this.name, reason: (error as Error).message }, 'cannot update the caBundle of the webhooks');
      }
    }
  }

  /** Returns the configuration with the bundle; undefined if it has it. Webhooks with a URL keep their bundle. */
  #changed(object: Configuration): Configuration | undefined {
    const webhooks = object.webhooks ?? [];
    if (webhooks.every(({ clientConfig }) => !clientConfig.service || clientConfig.caBundle === this.#bundle)) return undefined;
    return {
      ...object,
      webhooks: webhooks.map((webhook) =>
        webhook.clientConfig.service ? { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle: this.#bundle } } : webhook,
      ),
    } as Configuration;
  }
}
