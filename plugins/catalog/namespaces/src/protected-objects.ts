import {
  AdmissionPlugin,
  annotationOf,
  type Attributes,
  Client,
  Configuration,
  deny,
  Informers,
  inject,
  type KubeObject,
  labelOf,
} from 'kubenest/sdk';
import { IsBoolean, IsNotEmpty, IsString } from 'kubenest/sdk/configuration';
import { IsTexts } from '../../common/configuration.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';
import { isBinding, podBindings } from '../../common/pod-bindings.ts';
import { StoredObjects } from '../../common/stored-objects.ts';

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
  /** True if users who may update an object may remove its protection, so that a deletion takes two steps. */
  @IsBoolean()
  allowRemoval = false;
}

const pods = { group: '', version: 'v1', resource: 'pods' };

/**
 * Denies the deletion of protected objects, the eviction of protected pods, and the removal of the label or annotation. Users who may do so
 * need an exception, or are excluded by the scope of the rule. A protected object does not survive the deletion of its namespace: protect
 * the namespace, too.
 */
@AdmissionPlugin({
  name: 'ProtectedObjects',
  configuration: ProtectedObjectsConfiguration,
  match: [
    { resources: ['*'], operations: ['DELETE'] },
    { resources: ['*'], subresources: ['*'], operations: ['UPDATE'] },
    { groups: [''], resources: ['pods'], subresources: ['eviction'], operations: ['CREATE'] },
    ...podBindings,
  ],
})
export class ProtectedObjects {
  readonly #isProtectedNamespace: Matcher;
  readonly #pods: StoredObjects;

  constructor(
    @inject(Configuration) private readonly configuration: ProtectedObjectsConfiguration,
    @inject(Informers) informers: Informers,
    @inject(Client) client: Client,
  ) {
    this.#pods = new StoredObjects(informers, client, [pods]);
    this.#isProtectedNamespace = matcherOf(configuration.namespaces);
  }

  validate(request: Attributes): void | Promise<void> {
    const { operation, object, oldObject } = request;
    // The object of an eviction is the Eviction, and that of a binding the Binding.
    if (operation === 'CREATE') return this.#validatePod(request);
    if (operation === 'UPDATE') return this.#denyRemoval(request, oldObject, object);
    this.#denyDeletion(request, oldObject);
  }

  async #validatePod(request: Attributes): Promise<void> {
    const { object, namespace, name } = request;
    const pod = await this.#pods.get(pods, namespace, name);
    if (!pod) return;
    if (isBinding(object)) this.#denyRemoval(request, pod, boundPod(pod, object));
    else this.#denyDeletion(request, pod);
  }

  #denyRemoval(request: Attributes, before: KubeObject | undefined, after: KubeObject): void {
    if (this.configuration.allowRemoval || !before || !this.#isProtected(before) || this.#isProtected(after)) return;
    const { key, value } = this.configuration;
    deny(request, `it is protected by ${key}: ${value}, which must not be removed`);
  }

  #denyDeletion(request: Attributes, object: KubeObject | undefined): void {
    if (!object) return;
    const { resource, name } = request;
    const { key, value } = this.configuration;
    if (this.#isProtected(object)) deny(request, `it is protected by ${key}: ${value}`);
    if (resource.group === '' && resource.resource === 'namespaces' && this.#isProtectedNamespace(name))
      deny(request, 'the namespace is protected');
  }

  #isProtected(object: KubeObject): boolean {
    const { key, value } = this.configuration;
    return labelOf(object, key) === value || annotationOf(object, key) === value;
  }
}

/** Returns a pod with the labels and annotations of a Binding. */
function boundPod(pod: KubeObject, { metadata: { labels, annotations } }: KubeObject): KubeObject {
  const { metadata } = pod;
  return {
    ...pod,
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels }, annotations: { ...metadata.annotations, ...annotations } },
  };
}
