import {
  AdmissionPlugin,
  annotationOf,
  type Attributes,
  Configuration,
  type Informer,
  Informers,
  inject,
  type KubeObject,
  labelOf,
} from 'kubenest/sdk';
import { IsNotEmpty, IsString } from 'kubenest/sdk/configuration';
import { formOf, IsOptionalText } from '../../common/configuration.ts';
import { denyFor, newProblems } from '../../common/deny.ts';
import { longRunning } from './pod-makers.ts';

export class RequiredOwnerConfiguration {
  /** Key of a label or annotation that names the owner. */
  @IsString()
  @IsNotEmpty()
  key = 'owner';
  /** Regular expression of owners, such as `[a-z-]+@acme\.com`. */
  @IsOptionalText()
  pattern?: string;
}

/** Denies long-running workloads that name no owner, neither themselves nor by their namespace. */
@AdmissionPlugin({
  name: 'RequiredOwner',
  configuration: RequiredOwnerConfiguration,
  // The subresource `status` can change labels and annotations, too.
  match: longRunning.map((match) => ({ ...match, subresources: ['', 'status'] })),
})
export class RequiredOwner {
  readonly #namespaces: Informer;
  readonly #form: RegExp;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Configuration) private readonly configuration: RequiredOwnerConfiguration,
  ) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
    this.#form = formOf(configuration.key, configuration.pattern ?? '.+');
  }

  validate(request: Attributes): void {
    denyFor(
      request,
      newProblems(request, (object) => this.#problemsOf(object, request.namespace)),
    );
  }

  #problemsOf(object: KubeObject, namespace: string): string[] {
    const { key, pattern } = this.configuration;
    const owners = [object, this.#namespaces.get('', namespace)].flatMap((place) =>
      place ? [annotationOf(place, key), labelOf(place, key)] : [],
    );
    if (owners.some((owner) => owner !== undefined && this.#form.test(owner))) return [];
    const form = pattern === undefined ? '' : ` that matches ${pattern}`;
    return [`neither the object nor namespace ${namespace} has a label or annotation ${key}${form}`];
  }
}
