import { AdmissionPlugin, annotationOf, type Attributes, Configuration, deny, inject, labelOf } from 'kubenest/sdk';
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
 * Denies the deletion of protected objects. It does not remove them from a namespace that is deleted: protect the namespace, too. The label
 * can be removed by users who may update the object.
 */
@AdmissionPlugin({
  name: 'ProtectedObjects',
  configuration: ProtectedObjectsConfiguration,
  match: [{ resources: ['*'], operations: ['DELETE'] }],
})
export class ProtectedObjects {
  readonly #isProtectedNamespace: Matcher;

  constructor(@inject(Configuration) private readonly configuration: ProtectedObjectsConfiguration) {
    this.#isProtectedNamespace = matcherOf(configuration.namespaces);
  }

  validate(request: Attributes): void {
    const { oldObject: object, resource } = request;
    if (!object) return;
    const { key, value } = this.configuration;
    if (labelOf(object, key) === value || annotationOf(object, key) === value) deny(request, `it is protected by ${key}: ${value}`);
    if (resource.group === '' && resource.resource === 'namespaces' && this.#isProtectedNamespace(request.name))
      deny(request, 'the namespace is protected');
  }
}
