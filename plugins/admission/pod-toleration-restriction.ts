import { AdmissionPlugin, type Attributes, Configuration, type Informer, Informers, inject, newNotFound } from 'kubenest/sdk';
import { ConfigurationError, IsArray, IsIn, IsInt, IsOptional, IsString, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { isBestEffort } from '../common/pod-resources.ts';
import type { Pod, Toleration } from '../common/pod-walker.ts';
import { areTolerationsAllowed, mergeTolerations, parseTolerations, tolerationProblems } from './tolerations.ts';

const defaultsAnnotation = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const allowedAnnotation = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const memoryPressure: Toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

export class ConfiguredToleration implements Toleration {
  @IsOptional()
  @IsString()
  key?: string;

  @IsOptional()
  @IsIn(['', 'Equal', 'Exists', 'Lt', 'Gt'])
  operator?: string;

  @IsOptional()
  @IsString()
  value?: string;

  @IsOptional()
  @IsIn(['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'])
  effect?: string;

  @IsOptional()
  @IsInt()
  tolerationSeconds?: number;
}

/**
 * Configuration of PodTolerationRestriction. Upstream: plugin/pkg/admission/podtolerationrestriction/apis
 * (podtolerationrestriction.admission.k8s.io/v1alpha1).
 */
export class PodTolerationRestrictionConfiguration {
  static readonly kinds = ['podtolerationrestriction.admission.k8s.io/v1alpha1, Configuration'];

  /** Defaults of namespaces without the annotation. */
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ConfiguredToleration)
  default: readonly ConfiguredToleration[] = [];

  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ConfiguredToleration)
  whitelist: readonly ConfiguredToleration[] = [];
}

/**
 * Merges the namespace's default tolerations into pods and enforces its whitelist. Upstream:
 * kubernetes/plugin/pkg/admission/podtolerationrestriction/admission.go.
 */
@AdmissionPlugin({
  name: 'PodTolerationRestriction',
  configuration: PodTolerationRestrictionConfiguration,
  match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }],
})
export class PodTolerationRestriction {
  readonly #namespaces: Informer;
  readonly #defaults: readonly Toleration[];
  readonly #whitelist: readonly Toleration[];

  constructor(@inject(Informers) informers: Informers, @inject(Configuration) configuration: PodTolerationRestrictionConfiguration) {
    const problems = (['default', 'whitelist'] as const).flatMap((list) =>
      configuration[list].flatMap((toleration, i) => tolerationProblems(toleration).map((problem) => `${list}[${i}]${problem}`)),
    );
    if (problems.length > 0) throw new ConfigurationError(problems);
    this.#defaults = configuration.default.map(withoutEmpty);
    this.#whitelist = configuration.whitelist.map(withoutEmpty);
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  admit(request: Attributes<Pod>): void {
    const pod = request.object;
    const spec: { tolerations?: Toleration[] } = pod.spec;
    const extra = request.operation === 'CREATE' ? [...(this.#listOf(request, defaultsAnnotation) ?? this.#defaults)] : [];
    if (!isBestEffort(pod)) extra.push({ ...memoryPressure });
    if (extra.length > 0) spec.tolerations = mergeTolerations(spec.tolerations, extra);
    this.validate(request);
  }

  validate(request: Attributes<Pod>): void {
    const { tolerations } = request.object.spec;
    if (!tolerations?.length) return;
    const own = this.#listOf(request, allowedAnnotation);
    if (areTolerationsAllowed(tolerations, own ?? this.#whitelist)) return;
    const scope = own ? 'namespace' : 'cluster';
    throw new Error(`pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`);
  }

  /**
   * Parses the tolerations in a namespace's annotation; undefined without the annotation. Throws if it is not a list of
   * tolerations.
   */
  #listOf({ namespace }: Attributes, annotation: string): Toleration[] | undefined {
    const found = this.#namespaces.get('', namespace);
    if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
    const text = found.metadata.annotations?.[annotation];
    if (text === undefined) return undefined;
    return text === '' ? [] : parseTolerations(text);
  }
}

function withoutEmpty(toleration: Toleration): Toleration {
  return Object.fromEntries(Object.entries(toleration).filter(([, value]) => value !== undefined && value !== ''));
}
