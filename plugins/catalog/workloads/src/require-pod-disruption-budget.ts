import {
  AdmissionPlugin,
  type Attributes,
  deny,
  type Informer,
  Informers,
  inject,
  labelSelectorAsSelector,
  type LabelSelectorSource,
  podTemplateOf,
} from 'kubenest/sdk';
import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import { replicated } from './pod-makers.ts';

/** Denies deployments and stateful sets with several replicas whose pods have no PodDisruptionBudget, which must exist before them. */
@AdmissionPlugin({ name: 'RequirePodDisruptionBudget', match: replicated })
export class RequirePodDisruptionBudget {
  readonly #budgets: Informer<PodDisruptionBudget>;

  constructor(@inject(Informers) informers: Informers) {
    this.#budgets = informers.for<PodDisruptionBudget>({ group: 'policy', resource: 'poddisruptionbudgets' });
  }

  validate(request: Attributes): void {
    const { object, namespace } = request;
    const { replicas = 1 } = (object['spec'] ?? {}) as { readonly replicas?: number };
    const labels = podTemplateOf(object)?.metadata.labels ?? {};
    if (replicas < 2 || this.#budgets.list(namespace).some(({ spec }) => selects(spec?.selector, labels))) return;
    deny(request, `no PodDisruptionBudget in namespace ${namespace} selects its pods`);
  }
}

/** True if a selector of policy/v1, in which an empty one selects all pods, matches. */
function selects(selector: object | undefined, labels: Readonly<Record<string, string>>): boolean {
  return selector !== undefined && labelSelectorAsSelector(selector as LabelSelectorSource).matches(labels);
}
