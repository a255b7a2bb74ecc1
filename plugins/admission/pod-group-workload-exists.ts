import { AdmissionPlugin, type Attributes, Client, FeatureGates, forbidden, inject, type KubeObject, quote } from 'kubenest/sdk';

interface PodGroup extends KubeObject {
  readonly spec?: {
    readonly podGroupTemplateRef?: { readonly workload?: { readonly workloadName?: string; readonly podGroupTemplateName?: string } };
  };
}
interface Workload extends KubeObject {
  readonly spec?: { readonly podGroupTemplates?: readonly { readonly name?: string }[] };
}

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

  async validate(request: Attributes): Promise<void> {
    const ref = (request.object as PodGroup).spec?.podGroupTemplateRef?.workload;
    if (!this.#enabled || !ref) return;
    const { workloadName = '', podGroupTemplateName = '' } = ref;
    const target = { group: 'scheduling.k8s.io', version: 'v1alpha2', resource: 'workloads' };
    const workload = (await this.client.get(target, request.namespace, workloadName)) as Workload | undefined;
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
