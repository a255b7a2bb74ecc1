import {
  Controller,
  ControllerClient,
  inject,
  isAlreadyExists,
  type KubeObject,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Namespace } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', isClusterScoped: true } as const;
const serviceAccounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const name = 'default';

/**
 * Creates the service account `default` in each active namespace. Upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go.
 */
@Controller({
  name: 'serviceaccount-controller',
  serviceAccount: 'service-account-controller',
  for: namespaces,
  concurrency: 5,
  ...asManager,
})
export class ServiceAccountController {
  readonly #namespaces: SharedInformer<Namespace>;
  readonly #serviceAccounts: SharedInformer;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#namespaces = informers.for<Namespace>(namespaces);
    this.#serviceAccounts = informers.for(serviceAccounts);
  }

  @Watches(serviceAccounts)
  *requestsOfServiceAccount({ metadata }: KubeObject): Iterable<ReconcileRequest> {
    if (metadata.name === name) yield { namespace: '', name: metadata.namespace ?? '' };
  }

  async reconcile({ name: namespace }: ReconcileRequest): Promise<void> {
    if (this.#namespaces.get('', namespace)?.status?.phase !== 'Active' || this.#serviceAccounts.get(namespace, name)) return;
    try {
      await this.client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
    } catch (error) {
      if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) throw error;
    }
  }
}
