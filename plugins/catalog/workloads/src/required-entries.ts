import {
  AdmissionPlugin,
  annotationOf,
  type Attributes,
  Configuration,
  inject,
  type KubeObject,
  labelOf,
  podTemplateOf,
  workloads,
} from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, IsBoolean, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { type EntryCheck, entryCheckOf, RequiredEntry } from '../../common/configuration.ts';
import { denyFor, newProblems } from '../../common/deny.ts';

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

/** Objects that controllers create get the labels of their template; only the objects that users write are checked. */
const isOwned = ({ object }: Attributes): boolean => (object.metadata.ownerReferences ?? []).some(({ controller }) => controller);

/** Denies workloads without the required labels. */
@AdmissionPlugin({ name: 'RequiredLabels', configuration: RequiredLabelsConfiguration, match: workloads })
export class RequiredLabels {
  readonly #check: EntryCheck;

  constructor(@inject(Configuration) private readonly configuration: RequiredLabelsConfiguration) {
    this.#check = entryCheckOf('label', configuration.labels);
  }

  validate(request: Attributes): void {
    if (request.subresource !== '' || isOwned(request)) return;
    denyFor(
      request,
      newProblems(request, (object) => this.#problemsOf(object)),
    );
  }

  #problemsOf(object: KubeObject): string[] {
    const template = this.configuration.onPodTemplates ? podTemplateOf(object) : undefined;
    return [
      ...this.#check((key) => labelOf(object, key)),
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
@AdmissionPlugin({ name: 'RequiredAnnotations', configuration: RequiredAnnotationsConfiguration, match: workloads })
export class RequiredAnnotations {
  readonly #check: EntryCheck;

  constructor(@inject(Configuration) { annotations }: RequiredAnnotationsConfiguration) {
    this.#check = entryCheckOf('annotation', annotations);
  }

  validate(request: Attributes): void {
    if (request.subresource !== '' || isOwned(request)) return;
    denyFor(
      request,
      newProblems(request, (object) => this.#check((key) => annotationOf(object, key))),
    );
  }
}
