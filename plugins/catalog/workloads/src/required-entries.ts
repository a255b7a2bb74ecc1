import {
  type AdmissionMatch,
  AdmissionPlugin,
  annotationOf,
  type Attributes,
  Client,
  Configuration,
  Informers,
  inject,
  type KubeObject,
  labelOf,
  podTemplateOf,
  workloads,
} from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, IsBoolean, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { type EntryCheck, entryCheckOf, RequiredEntry } from '../../common/configuration.ts';
import { denyFor, newProblems } from '../../common/deny.ts';
import { isBinding, podBindings } from '../../common/pod-bindings.ts';
import { ControlledObjects } from './controlled-objects.ts';

export class RequiredLabelsConfiguration {
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => RequiredEntry)
  labels: RequiredEntry[] = [];
  /** True if the pods of a workload need the labels, too. */
  @IsBoolean()
  onPodTemplates = false;
}

/** Requests that can change the labels and annotations of workloads; those of the subresource `status` can, and bindings of pods. */
const labelled: readonly AdmissionMatch[] = [
  ...workloads.map(({ groups = [], resources, operations }) => ({ groups, resources, subresources: ['', 'status'], operations })),
  ...podBindings,
];

/** Denies a request for new problems, unless a controller created the object: it has the labels of its template. */
function denyUnlessControlled(
  request: Attributes,
  controlled: ControlledObjects,
  problemsOf: (object: KubeObject) => string[],
): void | Promise<void> {
  const problems = newProblems(request, problemsOf);
  if (problems.length === 0) return;
  const decide = (isControlled: boolean): void => {
    if (!isControlled) denyFor(request, problems);
  };
  const found = controlled.isControlled(request);
  return found instanceof Promise ? found.then(decide) : decide(found);
}

/** Denies workloads without the required labels. */
@AdmissionPlugin({ name: 'RequiredLabels', configuration: RequiredLabelsConfiguration, match: labelled })
export class RequiredLabels {
  readonly #check: EntryCheck;
  readonly #controlled: ControlledObjects;

  constructor(
    @inject(Configuration) private readonly configuration: RequiredLabelsConfiguration,
    @inject(Informers) informers: Informers,
    @inject(Client) client: Client,
  ) {
    this.#check = entryCheckOf('label', configuration.labels);
    this.#controlled = new ControlledObjects(informers, client);
  }

  validate(request: Attributes): void | Promise<void> {
    return denyUnlessControlled(request, this.#controlled, (object) => this.#problemsOf(object));
  }

  #problemsOf(object: KubeObject): string[] {
    const template = this.configuration.onPodTemplates ? podTemplateOf(object) : undefined;
    return [
      ...this.#check((key) => labelOf(object, key), isBinding(object)),
      ...(template ? this.#check((key) => labelOf(template, key)).map((problem) => `pod template: ${problem}`) : []),
    ];
  }
}

export class RequiredAnnotationsConfiguration {
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => RequiredEntry)
  annotations: RequiredEntry[] = [];
}

/** Denies workloads without the required annotations. */
@AdmissionPlugin({ name: 'RequiredAnnotations', configuration: RequiredAnnotationsConfiguration, match: labelled })
export class RequiredAnnotations {
  readonly #check: EntryCheck;
  readonly #controlled: ControlledObjects;

  constructor(
    @inject(Configuration) { annotations }: RequiredAnnotationsConfiguration,
    @inject(Informers) informers: Informers,
    @inject(Client) client: Client,
  ) {
    this.#check = entryCheckOf('annotation', annotations);
    this.#controlled = new ControlledObjects(informers, client);
  }

  validate(request: Attributes): void | Promise<void> {
    return denyUnlessControlled(request, this.#controlled, (object) => this.#check((key) => annotationOf(object, key), isBinding(object)));
  }
}
