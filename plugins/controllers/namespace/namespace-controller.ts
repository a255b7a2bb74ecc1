import {
  Clock,
  Controller,
  ControllerClient,
  formatTime,
  inject,
  type KubeObject,
  type ReconcileContext,
  type ReconcileRequest,
  type ReconcileResult,
  servedResources,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Namespace } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { type DeletionOutcome, deleteContent } from './delete-content.ts';
import { withConditions } from './namespace-conditions.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', isClusterScoped: true } as const;
const finalizer = 'kubernetes';
/** Interval at which remaining objects are looked for; deleted pods are noticed at once. */
const retryAfterMs = 1_000;

/**
 * Empties namespaces that are being deleted, reports in their conditions what remains, and then removes the finalizer that keeps them.
 * Upstream: pkg/controller/namespace.
 */
@Controller({
  name: 'namespace-controller',
  for: namespaces,
  concurrency: 10,
  ...asManager,
})
export class NamespaceController {
  readonly #namespaces: SharedInformer<Namespace>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#namespaces = informers.for<Namespace>(namespaces);
  }

  /** Looks again when a pod of a namespace that is being deleted is gone. */
  @Watches({ group: '', resource: 'pods' })
  *requestsOfPod({ metadata }: KubeObject): Iterable<ReconcileRequest> {
    const { namespace = '' } = metadata;
    if (metadata.deletionTimestamp && this.#namespaces.get('', namespace)?.metadata.deletionTimestamp)
      yield { namespace: '', name: namespace };
  }

  async reconcile({ name }: ReconcileRequest, { signal }: ReconcileContext): Promise<ReconcileResult> {
    const namespace = this.#namespaces.get('', name);
    if (!namespace?.metadata.deletionTimestamp || !namespace.spec?.finalizers?.includes(finalizer)) return {};
    const outcome = await deleteContent(this.client, name, await servedResources(this.client), signal);
    await this.#report(name, outcome);
    if (outcome.errors.length > 0) throw new Error(outcome.errors.join('; '));
    if (outcome.undiscovered.length > 0) throw new Error(`no discovery of ${outcome.undiscovered.join(', ')}`);
    if (outcome.remaining.size > 0) return { requeueAfterMs: retryAfterMs };
    await this.#finalize(name);
    return {};
  }

  async #report(name: string, outcome: DeletionOutcome): Promise<void> {
    const now = formatTime(this.clock.wallTime());
    await this.client.update<Namespace>({ ...namespaces, subresource: 'status' }, '', name, (namespace) =>
      withConditions(namespace, outcome, now),
    );
  }

  async #finalize(name: string): Promise<void> {
    const namespace = await this.client.get<Namespace>(namespaces, '', name);
    if (!namespace) return;
    const finalizers = namespace.spec?.finalizers?.filter((present) => present !== finalizer) ?? [];
    await this.client.replace({ ...namespaces, subresource: 'finalize' }, { ...namespace, spec: { ...namespace.spec, finalizers } });
  }
}
