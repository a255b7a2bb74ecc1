import { AdmissionPlugin, type Attributes, Client, Configuration, type Informer, Informers, inject } from 'kubenest/sdk';
import { checkRequest, type ResourceQuotaObject } from './check-request.ts';
import { PersistentVolumeClaimEvaluator } from './claim-evaluator.ts';
import { ResourceQuotaConfiguration } from './configuration.ts';
import type { QuotaEvaluator } from './evaluator.ts';
import { ObjectCountEvaluator } from './object-count-evaluator.ts';
import { PodEvaluator } from './pod-evaluator.ts';
import { QuotaAccountant } from './quota-accountant.ts';
import { ResourceClaimEvaluator } from './resource-claim-evaluator.ts';
import { ServiceEvaluator } from './service-evaluator.ts';

/** Resources that are never counted. Upstream: kubernetes/pkg/quota/v1/install/registry.go. */
const ignored = new Set([
  '/bindings',
  '/componentstatuses',
  '/events',
  'events.k8s.io/events',
  'authentication.k8s.io/tokenreviews',
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
]);
/** Legacy names of object counts, older than `count/`. */
const aliases: Readonly<Record<string, string>> = {
  '/configmaps': 'configmaps',
  '/resourcequotas': 'resourcequotas',
  '/replicationcontrollers': 'replicationcontrollers',
  '/secrets': 'secrets',
};

/**
 * Enforces the quotas of a namespace and maintains their usage. Upstream:
 * apiserver/pkg/admission/plugin/resourcequota/admission.go.
 */
@AdmissionPlugin({
  name: 'ResourceQuota',
  configuration: ResourceQuotaConfiguration,
  match: [
    { groups: ['*'], resources: ['*'], operations: ['CREATE'] },
    { groups: [''], resources: ['pods'], subresources: ['', 'resize'], operations: ['UPDATE'] },
    { groups: [''], resources: ['services'], operations: ['UPDATE'] },
    { groups: [''], resources: ['persistentvolumeclaims'], subresources: ['', 'status'], operations: ['UPDATE'] },
    { groups: ['resource.k8s.io'], resources: ['resourceclaims'], operations: ['UPDATE'] },
  ],
})
export class ResourceQuota {
  readonly #quotas: Informer<ResourceQuotaObject>;
  readonly #evaluators = new Map<string, QuotaEvaluator>();
  readonly #accountant: QuotaAccountant;
  readonly #isUnlimited: boolean;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) client: Client,
    @inject(Configuration) { limitedResources }: ResourceQuotaConfiguration,
  ) {
    this.#quotas = informers.for({ group: '', resource: 'resourcequotas' });
    this.#isUnlimited = limitedResources.length === 0;
    this.#accountant = new QuotaAccountant(this.#quotas, client, (states, request) =>
      checkRequest(states, request, this.#evaluatorFor(request), limitedResources),
    );
    const pods = new PodEvaluator();
    this.#evaluators.set('/pods', pods);
    this.#evaluators.set('/services', new ServiceEvaluator());
    this.#evaluators.set('/persistentvolumeclaims', new PersistentVolumeClaimEvaluator());
    this.#evaluators.set(
      'resource.k8s.io/resourceclaims',
      new ResourceClaimEvaluator(
        informers.for({ group: 'resource.k8s.io', resource: 'resourceclaims' }),
        informers.for({ group: 'resource.k8s.io', resource: 'deviceclasses' }),
        informers.for({ group: '', resource: 'pods' }),
        pods,
      ),
    );
  }

  validate(request: Attributes): void | Promise<void> {
    const { namespace, resource } = request;
    const isNamespace = resource.group === '' && resource.resource === 'namespaces';
    if (!namespace || isNamespace || ignored.has(`${resource.group}/${resource.resource}`)) return;
    if (this.#isUnlimited && this.#quotas.list(namespace).length === 0) return;
    if (this.#evaluatorFor(request).handles(request)) return this.#accountant.charge(request);
  }

  #evaluatorFor({ resource: { group, resource } }: Attributes): QuotaEvaluator {
    const key = `${group}/${resource}`;
    let evaluator = this.#evaluators.get(key);
    if (!evaluator) {
      evaluator = new ObjectCountEvaluator(group, resource, Object.hasOwn(aliases, key) ? aliases[key] : undefined);
      this.#evaluators.set(key, evaluator);
    }
    return evaluator;
  }
}
