import {
  Clock,
  Controller,
  ControllerClient,
  inject,
  isConflict,
  isNotFound,
  Logger,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { ConfigMap, Pod, Secret, ServiceAccount } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { pods } from '../common/pods.ts';
import { repeat } from '../common/repeat.ts';
import { secretNamesOf } from './pod-secrets.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' } as const;
const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const;
const serviceAccounts = { group: '', resource: 'serviceaccounts' };
const trackingName = 'kube-apiserver-legacy-service-account-token-tracking';
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';
const lastUsed = 'kubernetes.io/legacy-token-last-used';
const dayMs = 86_400_000;
/** Upstream: --legacy-service-account-token-clean-up-period. */
const cleanUpPeriodMs = 365 * dayMs;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const isDate = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

/**
 * Marks tokens of service accounts that have not been used for a year as invalid, and deletes them after another one. Only tokens that the
 * service account lists are considered: those were generated. Upstream:
 * pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go.
 */
@Controller({
  name: 'legacy-serviceaccount-token-cleaner-controller',
  serviceAccount: 'legacy-service-account-token-cleaner',
  ...asManager,
})
export class LegacyServiceAccountTokenCleanerController {
  readonly #secrets: SharedInformer<Secret>;
  readonly #accounts: SharedInformer<ServiceAccount>;
  readonly #pods: SharedInformer<Pod>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#secrets = informers.for<Secret>(secrets);
    this.#accounts = informers.for<ServiceAccount>(serviceAccounts);
    this.#pods = informers.for<Pod>(pods);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#secrets.synced, this.#accounts.synced, this.#pods.synced]);
    await repeat(this.clock, dayMs, signal, () => this.clean());
  }

  /** Marks and deletes the tokens that are due, once the server has tracked their use for long enough. */
  async clean(): Promise<void> {
    const tracking = await this.client.get<ConfigMap>(configMaps, 'kube-system', trackingName);
    const since = tracking?.data?.['since'];
    const nowMs = this.clock.wallTime();
    if (!isDate(since) || nowMs < Date.parse(since) + dayMs + cleanUpPeriodMs) return;
    for (const secret of this.#secrets.list().filter((candidate) => this.#isUnused(candidate, nowMs - cleanUpPeriodMs))) {
      try {
        await this.#retire(secret, nowMs);
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) continue;
        const { namespace, name } = secret.metadata;
        this.logger.error({ secret: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot clean up a token');
      }
    }
  }

  /** True for a generated token that was neither created nor used since the time, and that no pod mounts. */
  #isUnused({ type, metadata }: Secret, sinceMs: number): boolean {
    const { namespace = '', name = '', labels = {}, annotations = {}, creationTimestamp = '', deletionTimestamp } = metadata;
    if (type !== 'kubernetes.io/service-account-token' || deletionTimestamp || Date.parse(creationTimestamp) >= sinceMs) return false;
    const used = labels[lastUsed];
    if (used !== undefined && (!isDate(used) || used >= dateOf(sinceMs))) return false;
    const account = this.#accounts.get(namespace, annotations['kubernetes.io/service-account.name'] ?? '');
    const uid = annotations['kubernetes.io/service-account.uid'];
    if (!account || (uid && uid !== account.metadata.uid) || !account.secrets?.some((reference) => reference.name === name)) return false;
    return !this.#pods.list(namespace).some((pod) => secretNamesOf(pod).has(name));
  }

  async #retire({ metadata }: Secret, nowMs: number): Promise<void> {
    const { namespace = '', name = '', uid, labels = {}, resourceVersion } = metadata;
    const marked = labels[invalidSince];
    if (!isDate(marked)) {
      const patch = { metadata: { uid, labels: { [invalidSince]: dateOf(nowMs) } } };
      await this.client.patch(secrets, namespace, name, { type: 'merge', patch });
    } else if (marked < dateOf(nowMs - cleanUpPeriodMs)) {
      await this.client.remove(secrets, namespace, name, { preconditions: { resourceVersion } });
    }
  }
}
