import { AdmissionPlugin, type Attributes, Client, Clock, Configuration, type Informer, Informers, inject } from 'kubenest/sdk';
import { isNeverCounted, QuotaEvaluators } from '../../common/quota/quota-evaluators.ts';
import type { ResourceQuotaObject } from '../../common/quota/evaluator.ts';
import { CaughtUp } from '../caught-up.ts';
import { checkRequest } from './check-request.ts';
import { ResourceQuotaConfiguration } from './configuration.ts';
import { QuotaAccountant } from './quota-accountant.ts';

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
  readonly #evaluators: QuotaEvaluators;
  readonly #accountant: QuotaAccountant;
  readonly #isUnlimited: boolean;
  readonly #caughtUp: CaughtUp;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) client: Client,
    @inject(Clock) clock: Clock,
    @inject(Configuration) { limitedResources }: ResourceQuotaConfiguration,
  ) {
    this.#quotas = informers.for({ group: '', resource: 'resourcequotas' });
    this.#caughtUp = new CaughtUp(this.#quotas, { group: '', version: 'v1', resource: 'resourcequotas' }, client, clock);
    this.#isUnlimited = limitedResources.length === 0;
    this.#accountant = new QuotaAccountant(this.#quotas, client, (states, request) =>
      checkRequest(states, request, this.#evaluators.of(request.resource), limitedResources),
    );
    this.#evaluators = new QuotaEvaluators(informers);
  }

  validate(request: Attributes): void | Promise<void> {
    const { namespace, resource } = request;
    const isNamespace = resource.group === '' && resource.resource === 'namespaces';
    if (!namespace || isNamespace || isNeverCounted(resource)) return;
    if (!this.#evaluators.of(resource).handles(request)) return;
    return this.#caughtUp.in(namespace)?.then(() => this.#charge(request)) ?? this.#charge(request);
  }

  #charge(request: Attributes): void | Promise<void> {
    if (this.#isUnlimited && this.#quotas.list(request.namespace).length === 0) return;
    return this.#accountant.charge(request);
  }
}
