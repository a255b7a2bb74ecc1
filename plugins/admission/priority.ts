import { AdmissionPlugin, type Attributes, FeatureGates, forbidden, type Informer, Informers, inject } from 'kubenest/sdk';
import type { PriorityClass } from 'kubenest/kinds';
import type { PodGroup } from 'kubenest/types/scheduling_v1alpha2';
import type { Pod } from '../common/pod-walker.ts';

/** The priority and preemption policy of a class or of the default. */
interface EstablishedPriority {
  readonly className: string;
  readonly priority: number;
  readonly preemptionPolicy: NonNullable<PriorityClass['preemptionPolicy']>;
}

const defaultPreemptionPolicy = 'PreemptLowerPriority';

/**
 * Sets the priority of pods and pod groups from their class or the global default, and denies a second global default.
 * Upstream: kubernetes/plugin/pkg/admission/priority/admission.go.
 */
@AdmissionPlugin({
  name: 'Priority',
  match: [
    { groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] },
    { groups: ['scheduling.k8s.io'], resources: ['podgroups'], operations: ['CREATE'] },
    { groups: ['scheduling.k8s.io'], resources: ['priorityclasses'], operations: ['CREATE', 'UPDATE'] },
  ],
})
export class Priority {
  readonly #classes: Informer<PriorityClass>;
  readonly #ranksGroups: boolean;

  constructor(@inject(Informers) informers: Informers, @inject(FeatureGates) features: FeatureGates) {
    this.#ranksGroups = features.enabled('WorkloadAwarePreemption');
    this.#classes = informers.for({ group: 'scheduling.k8s.io', resource: 'priorityclasses' });
  }

  admit(request: Attributes): void {
    const { resource } = request.resource;
    if (resource === 'podgroups') this.#admitGroup(request);
    else if (resource === 'pods') this.#admitPod(request);
  }

  #admitPod(request: Attributes): void {
    const { spec } = request.object as Pod;
    if (request.operation === 'UPDATE') {
      const old = (request.oldObject as Pod).spec;
      if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
      if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) spec.preemptionPolicy = old.preemptionPolicy;
      return;
    }
    const { className, priority, preemptionPolicy } = this.#establish(request, spec.priorityClassName);
    if (className) spec.priorityClassName = className;
    if (spec.priority !== undefined && spec.priority !== priority) {
      throw forbidden(
        request,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
      );
    }
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
      throw forbidden(
        request,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
      );
    }
    spec.priority = priority;
    spec.preemptionPolicy = preemptionPolicy;
  }

  #admitGroup(request: Attributes): void {
    if (!this.#ranksGroups) return;
    const spec = ((request.object as PodGroup).spec ??= {});
    const { className, priority } = this.#establish(request, spec.priorityClassName);
    if (spec.priority !== undefined && spec.priority !== priority) {
      throw forbidden(
        request,
        `priority set in the pod group (${spec.priority}) must match the priority computed (${priority}) based on the priority class set in the spec`,
      );
    }
    spec.priority = priority;
    if (className) spec.priorityClassName = className;
  }

  #establish(request: Attributes, name: string | undefined): EstablishedPriority {
    const chosen = name ? this.#named(request, name) : this.#default();
    return {
      className: chosen?.metadata.name ?? '',
      priority: chosen?.value ?? 0,
      preemptionPolicy: chosen?.preemptionPolicy ?? defaultPreemptionPolicy,
    };
  }

  validate(request: Attributes): void {
    if (request.resource.resource !== 'priorityclasses' || !(request.object as PriorityClass).globalDefault) return;
    const present = this.#default();
    if (present && (request.operation === 'CREATE' || present.metadata.name !== request.object.metadata.name)) {
      throw forbidden(request, `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`);
    }
  }

  #named(request: Attributes, name: string): PriorityClass {
    const found = this.#classes.get('', name);
    if (!found) throw forbidden(request, `no PriorityClass with name ${name} was found`);
    return found;
  }

  /** Returns the default class; if a race created several, the one with the lowest priority. */
  #default(): PriorityClass | undefined {
    return this.#classes
      .list()
      .filter(({ globalDefault }) => globalDefault)
      .sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0];
  }
}
