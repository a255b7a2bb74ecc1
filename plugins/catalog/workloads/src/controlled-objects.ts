import {
  annotationOf,
  type Attributes,
  type Client,
  controllerOf,
  type GroupVersionResource,
  type Informer,
  type Informers,
  type KubeObject,
  labelSelectorAsSelector,
  type LabelSelectorSource,
} from 'kubenest/sdk';

/** Annotation of pods that a kubelet mirrors from its own files. */
const mirror = 'kubernetes.io/config.mirror';

/** Kinds whose controllers create pods, or objects that do, by `group/kind`. */
const controllers: Readonly<Record<string, GroupVersionResource>> = {
  '/ReplicationController': { group: '', version: 'v1', resource: 'replicationcontrollers' },
  'apps/DaemonSet': { group: 'apps', version: 'v1', resource: 'daemonsets' },
  'apps/Deployment': { group: 'apps', version: 'v1', resource: 'deployments' },
  'apps/ReplicaSet': { group: 'apps', version: 'v1', resource: 'replicasets' },
  'apps/StatefulSet': { group: 'apps', version: 'v1', resource: 'statefulsets' },
  'batch/CronJob': { group: 'batch', version: 'v1', resource: 'cronjobs' },
  'batch/Job': { group: 'batch', version: 'v1', resource: 'jobs' },
};

/**
 * Distinguishes objects that a controller of Kubernetes creates from objects that only claim so: the client that creates an object chooses
 * its ownerReferences. The owner must exist with this uid, be of a kind that creates the object, and select it, so that it counts the
 * object as its own.
 */
export class ControlledObjects {
  readonly #informers: ReadonlyMap<string, Informer>;

  constructor(
    informers: Informers,
    private readonly client: Client,
  ) {
    this.#informers = new Map(Object.entries(controllers).map(([key, resource]) => [key, informers.for(resource)]));
  }

  /** True if the object of a request is controlled. Returns a promise only if the informers do not know the owner yet. */
  isControlled({ object, namespace }: Attributes): boolean | Promise<boolean> {
    const reference = controllerOf(object);
    if (!reference) return false;
    const slash = reference.apiVersion.indexOf('/');
    const key = `${slash < 0 ? '' : reference.apiVersion.slice(0, slash)}/${reference.kind}`;
    const informer = this.#informers.get(key);
    if (!informer) return false;
    const owns = (owner: KubeObject | undefined): boolean => owner?.metadata.uid === reference.uid && selects(owner, object);
    const owner = informer.get(namespace, reference.name);
    if (owner?.metadata.uid === reference.uid) return owns(owner);
    return this.client.get(controllers[key] as GroupVersionResource, namespace, reference.name).then(owns);
  }
}

/** Selectors of owners, which are frozen or used once. */
const selectors = new WeakMap<object, ReturnType<typeof labelSelectorAsSelector>>();

/** True if the selector of an owner matches the labels of an object. CronJobs have none. */
function selects(owner: KubeObject, { metadata: { labels = {} } }: KubeObject): boolean {
  const { selector } = (owner['spec'] ?? {}) as { readonly selector?: object };
  if (selector === undefined) return owner.kind === 'CronJob';
  let compiled = selectors.get(selector);
  if (!compiled) {
    // That of a ReplicationController is a set of labels.
    const source = (owner.kind === 'ReplicationController' ? { matchLabels: selector } : selector) as LabelSelectorSource;
    selectors.set(selector, (compiled = labelSelectorAsSelector(source)));
  }
  return compiled.matches(labels);
}

/** True for a pod that a kubelet mirrors: only nodes may create one. Stored ones were checked when they were created. */
export function isMirror(request: Attributes): boolean {
  const isMirrored = annotationOf(request.object, mirror) !== undefined;
  return isMirrored && (request.verdicts !== undefined || request.user.groups.includes('system:nodes'));
}
