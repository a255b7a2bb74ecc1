import {
  AdmissionPlugin,
  annotationOf,
  type Attributes,
  Configuration,
  deny,
  type Informer,
  Informers,
  inject,
  labelOf,
} from 'kubenest/sdk';
import { IsNotEmpty, IsString } from 'kubenest/sdk/configuration';
import { IsTexts } from '../../common/configuration.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

export class ProtectedObjectsConfiguration {
  /** Label or annotation that protects an object. */
  @IsString()
  @IsNotEmpty()
  key = 'protected';
  /** Its value. */
  @IsString()
  value = 'true';
  /** Namespaces that are protected without it. */
  @IsTexts()
  namespaces: string[] = [];
}

/**
 * Denies the deletion of protected objects, and the eviction of protected pods. It does not remove them from a namespace that is deleted: protect the namespace, too. The label
 * can be removed by users who may update the object.
 */
@AdmissionPlugin({
  name: 'ProtectedObjects',
  configuration: ProtectedObjectsConfiguration,
  match: [
    { resources: ['*'], operations: ['DELETE'] },
    { groups: [''], resources: ['pods'], subresources: ['eviction'], operations: ['CREATE'] },
  ],
})
export class ProtectedObjects {
  readonly #isProtectedNamespace: Matcher;
  readonly #pods: Informer;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Configuration) private readonly configuration: ProtectedObjectsConfiguration,
  ) {
    this.#pods = informers.for({ group: '', resource: 'pods' });
    this.#isProtectedNamespace = matcherOf(configuration.namespaces);
  }

  validate(request: Attributes): void {
    const { resource, subresource, namespace, name } = request;
    // The object of an eviction is the Eviction.
    const object = subresource === 'eviction' ? this.#pods.get(namespace, name) : request.oldObject;
    if (!object) return;
    const { key, value } = this.configuration;
    if (labelOf(object, key) === value || annotationOf(object, key) === value) deny(request, `it is protected by ${key}: ${value}`);
    if (resource.group === '' && resource.resource === 'namespaces' && this.#isProtectedNamespace(name))
      deny(request, 'the namespace is protected');
  }
}
