import { AdmissionPlugin, type Attributes, FeatureGates, forbidden, type Informer, Informers, inject, quote } from 'kubenest/sdk';
import type { Job } from 'kubenest/kinds';
import type { PodGroup } from 'kubenest/types/scheduling_v1alpha2';

/**
 * Denies changes of parallelism for a job with a gang-scheduled pod group. Upstream:
 * kubernetes/plugin/pkg/admission/job/admission.go.
 */
@AdmissionPlugin({ name: 'JobValidation', match: [{ groups: ['batch'], resources: ['jobs'], operations: ['UPDATE'] }] })
export class JobValidation {
  /** undefined if the feature gate is disabled, because the resource is then not served. */
  readonly #groups: Informer<PodGroup> | undefined;

  constructor(@inject(Informers) informers: Informers, @inject(FeatureGates) features: FeatureGates) {
    if (features.enabled('GenericWorkload')) this.#groups = informers.for({ group: 'scheduling.k8s.io', resource: 'podgroups' });
  }

  validate(request: Attributes<Job>): void {
    const job = request.object;
    const old = request.oldObject as Job;
    if (!this.#groups || job.spec?.parallelism === old.spec?.parallelism) return;
    const gang = this.#groupsOf(this.#groups, old).find(({ spec }) => spec?.schedulingPolicy?.gang);
    if (gang)
      throw forbidden(
        request,
        `cannot change parallelism for a Job referencing gang-scheduled PodGroup ${quote(gang.metadata.name ?? '')}`,
      );
  }

  /** Returns the group that a job names, or the groups that it controls. */
  #groupsOf(groups: Informer<PodGroup>, { metadata, spec }: Job): PodGroup[] {
    const namespace = metadata.namespace ?? '';
    const name = spec?.template?.spec?.schedulingGroup?.podGroupName;
    if (name !== undefined) {
      const group = groups.get(namespace, name);
      return group ? [group] : [];
    }
    return groups
      .list(namespace)
      .filter((group) => group.metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === metadata.uid));
  }
}
