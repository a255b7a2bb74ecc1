import { AdmissionPlugin, type Attributes, forbidden, type Informer, Informers, inject, quote } from 'kubenest/sdk';
import type { RuntimeClass as RuntimeClassObject } from 'kubenest/kinds';
import { getOwn, semanticDeepEqual, setOwn } from '#sdk/internal';
import { lookupProblem } from './live-lookup.ts';
import type { Pod } from '../common/pod-walker.ts';
import { mergeTolerations } from './tolerations.ts';

/**
 * Sets a pod's overhead and scheduling from its runtime class, and denies a different overhead. Upstream:
 * kubernetes/plugin/pkg/admission/runtimeclass/admission.go.
 */
@AdmissionPlugin({ name: 'RuntimeClass', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }] })
export class RuntimeClass {
  readonly #classes: Informer<RuntimeClassObject>;

  constructor(@inject(Informers) informers: Informers) {
    this.#classes = informers.for({ group: 'node.k8s.io', resource: 'runtimeclasses' });
  }

  admit(request: Attributes<Pod>): void {
    const { spec } = request.object;
    const runtimeClass = this.#classOf(request);
    if (runtimeClass?.overhead) {
      const { podFixed } = runtimeClass.overhead;
      if (Object.keys(spec.overhead ?? {}).length > 0 && !semanticDeepEqual(podFixed, spec.overhead))
        throw forbidden(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      if (podFixed) spec.overhead = { ...podFixed };
      else delete spec.overhead;
    }
    if (!runtimeClass?.scheduling) return;
    const { nodeSelector = {}, tolerations } = runtimeClass.scheduling;
    for (const [key, value] of Object.entries(nodeSelector)) {
      const present = getOwn(spec.nodeSelector ?? {}, key);
      if (present !== undefined && present !== value) {
        throw forbidden(
          request,
          `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${String(present)}`,
        );
      }
      setOwn((spec.nodeSelector ??= {}), key, value);
    }
    const merged = mergeTolerations(spec.tolerations, tolerations);
    if (merged.length > 0) spec.tolerations = merged;
  }

  validate(request: Attributes<Pod>): void {
    const { overhead } = request.object.spec;
    const defined = this.#classOf(request)?.overhead;
    if (defined && !semanticDeepEqual(defined.podFixed, overhead))
      throw forbidden(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    if (!defined && overhead !== undefined)
      throw forbidden(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }

  #classOf(request: Attributes<Pod>): RuntimeClassObject | undefined {
    const { runtimeClassName } = request.object.spec;
    if (runtimeClassName === undefined) return undefined;
    const found = this.#classes.get('', runtimeClassName);
    if (found) return found;
    const problem = lookupProblem(runtimeClassName);
    if (problem !== undefined) throw new Error(problem);
    throw forbidden(request, `pod rejected: RuntimeClass ${quote(runtimeClassName)} not found`);
  }
}
