import { AdmissionPlugin, type Attributes, Client, FeatureGates, forbidden, inject, quote } from 'kubenest/sdk';
import type { PodGroup, Workload } from 'kubenest/types/scheduling_v1alpha2';

/**
 * Requires the workload and the template that a pod group refers to. Upstream:
 * kubernetes/plugin/pkg/admission/podgroup/admission.go.
 */
@AdmissionPlugin({
  name: 'PodGroupWorkloadExists',
  match: [{ groups: ['scheduling.k8s.io'], resources: ['podgroups'], operations: ['CREATE'] }],
})
export class PodGroupWorkloadExists {
  readonly #enabled: boolean;

  constructor(
    @inject(Client) private readonly client: Client,
    @inject(FeatureGates) features: FeatureGates,
  ) {
    this.#enabled = features.enabled('GenericWorkload');
  }

  async validate(request: Attributes<PodGroup>): Promise<void> {
    const ref = request.object.spec?.podGroupTemplateRef?.workload;
    if (!this.#enabled || !ref) return;
    const { workloadName = '', podGroupTemplateName = '' } = ref;
    const target = { group: 'scheduling.k8s.io', version: 'v1alpha2', resource: 'workloads' };
    const workload = await this.client.get<Workload>(target, request.namespace, workloadName);
    if (!workload) throw forbidden(request, `PodGroup rejected: Workload ${quote(workloadName)} not found`);
    if (workload.metadata.deletionTimestamp !== undefined)
      throw forbidden(request, `PodGroup rejected: Workload ${quote(workloadName)} is being deleted`);
    if (workload.spec?.podGroupTemplates?.some(({ name }) => name === podGroupTemplateName)) return;
    throw forbidden(
      request,
      `PodGroup rejected: PodGroupTemplate ${quote(podGroupTemplateName)} not found in Workload ${quote(workloadName)}`,
    );
  }
}
