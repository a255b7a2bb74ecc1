import {
  AdmissionPlugin,
  type Attributes,
  Client,
  deny,
  type Informer,
  Informers,
  inject,
  labelSelectorAsSelector,
  type LabelSelectorSource,
} from 'kubenest/sdk';
import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import type { StoredObjects } from '../../common/stored-objects.ts';
import { replicated, replicatedTemplate, storedWorkloads } from './replicas.ts';

/** Denies deployments and stateful sets with several replicas whose pods have no PodDisruptionBudget, which must exist before them. */
@AdmissionPlugin({ name: 'RequirePodDisruptionBudget', match: replicated })
export class RequirePodDisruptionBudget {
  readonly #budgets: Informer<PodDisruptionBudget>;
  readonly #workloads: StoredObjects;

  constructor(@inject(Informers) informers: Informers, @inject(Client) client: Client) {
    this.#workloads = storedWorkloads(informers, client);
    this.#budgets = informers.for<PodDisruptionBudget>({ group: 'policy', resource: 'poddisruptionbudgets' });
  }

  async validate(request: Attributes): Promise<void> {
    const template = await replicatedTemplate(request, this.#workloads);
    if (!template) return;
    const { namespace } = request;
    const { labels = {} } = template.metadata;
    if (!this.#budgets.list(namespace).some(({ spec }) => selects(spec?.selector, labels)))
      deny(request, `no PodDisruptionBudget in namespace ${namespace} selects its pods`);
  }
}

/** True if a selector of policy/v1, in which an empty one selects all pods, matches. */
function selects(selector: object | undefined, labels: Readonly<Record<string, string>>): boolean {
  return selector !== undefined && labelSelectorAsSelector(selector as LabelSelectorSource).matches(labels);
}
