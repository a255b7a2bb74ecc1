import { AdmissionPlugin, type Attributes, Configuration, type Informer, Informers, inject, newNotFound } from 'kubenest/sdk';
import { IsArray, IsOptional } from 'kubenest/sdk/configuration';
import { isBestEffort } from './pod-resources.ts';
import type { Pod, Toleration } from './pod-walker.ts';
import { areTolerationsAllowed, mergeTolerations, parseTolerations } from './tolerations.ts';

const defaultsAnnotation = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const allowedAnnotation = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const memoryPressure: Toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

/** Upstream: plugin/pkg/admission/podtolerationrestriction/apis (podtolerationrestriction.admission.k8s.io/v1alpha1). */
export class PodTolerationRestrictionConfiguration {
  static readonly kinds = ['podtolerationrestriction.admission.k8s.io/v1alpha1, Configuration'];

  /** Of namespaces without the annotation. */
  @IsOptional()
  @IsArray()
  default: readonly Toleration[] = [];

  @IsOptional()
  @IsArray()
  whitelist: readonly Toleration[] = [];
}

/** Gives pods the tolerations of their namespace, and no others than it allows. Upstream: kubernetes/plugin/pkg/admission/podtolerationrestriction/admission.go. */
@AdmissionPlugin({
  name: 'PodTolerationRestriction',
  configuration: PodTolerationRestrictionConfiguration,
  match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }],
})
export class PodTolerationRestriction {
  readonly #namespaces: Informer;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Configuration) private readonly configuration: PodTolerationRestrictionConfiguration,
  ) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  admit(request: Attributes): void {
    const pod = request.object as Pod;
    const extra = request.operation === 'CREATE' ? [...(this.#listOf(request, defaultsAnnotation) ?? this.configuration.default)] : [];
    if (!isBestEffort(pod)) extra.push({ ...memoryPressure });
    if (extra.length > 0) pod.spec.tolerations = mergeTolerations(pod.spec.tolerations, extra);
    this.validate(request);
  }

  validate(request: Attributes): void {
    const { tolerations } = (request.object as Pod).spec;
    if (!tolerations?.length) return;
    const own = this.#listOf(request, allowedAnnotation);
    if (areTolerationsAllowed(tolerations, own ?? this.configuration.whitelist)) return;
    const scope = own ? 'namespace' : 'cluster';
    throw new Error(`pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`);
  }

  /** undefined where the namespace does not say. Throws for an annotation that is no list of tolerations. */
  #listOf({ namespace }: Attributes, annotation: string): Toleration[] | undefined {
    const found = this.#namespaces.get('', namespace);
    if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
    const text = found.metadata.annotations?.[annotation];
    if (text === undefined) return undefined;
    return text === '' ? [] : parseTolerations(text);
  }
}
