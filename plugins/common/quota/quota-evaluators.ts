import type { GroupResource, Informers } from 'kubenest/sdk';
import { PersistentVolumeClaimEvaluator } from './claim-evaluator.ts';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';
import { ObjectCountEvaluator } from './object-count-evaluator.ts';
import { PodEvaluator } from './pod-evaluator.ts';
import { ResourceClaimEvaluator } from './resource-claim-evaluator.ts';
import { ServiceEvaluator } from './service-evaluator.ts';

/** Resources that are never counted. Upstream: kubernetes/pkg/quota/v1/install/registry.go. */
const ignored = new Set([
  '/bindings',
  '/componentstatuses',
  '/events',
  'events.k8s.io/events',
  'authentication.k8s.io/tokenreviews',
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
]);
/** Legacy names of object counts, older than `count/`. */
const aliases: Readonly<Record<string, string>> = {
  '/configmaps': 'configmaps',
  '/resourcequotas': 'resourcequotas',
  '/replicationcontrollers': 'replicationcontrollers',
  '/secrets': 'secrets',
};

/** True for resources whose objects no quota counts. */
export function isNeverCounted({ group, resource }: GroupResource): boolean {
  return ignored.has(`${group}/${resource}`);
}

/** The evaluators by resource: those of resources with a usage of their own, and object counts of all others. */
export class QuotaEvaluators {
  readonly #evaluators = new Map<string, QuotaEvaluator>();
  /** Resources with a usage of their own. */
  readonly #own: ReadonlySet<string>;

  constructor(informers: Informers) {
    const pods = new PodEvaluator();
    this.#evaluators.set('/pods', pods);
    this.#evaluators.set('/services', new ServiceEvaluator());
    this.#evaluators.set('/persistentvolumeclaims', new PersistentVolumeClaimEvaluator());
    this.#evaluators.set(
      'resource.k8s.io/resourceclaims',
      new ResourceClaimEvaluator(
        informers.for({ group: 'resource.k8s.io', resource: 'resourceclaims' }),
        informers.for({ group: 'resource.k8s.io', resource: 'deviceclasses' }),
        informers.for({ group: '', resource: 'pods' }),
        pods,
      ),
    );
    this.#own = new Set(this.#evaluators.keys());
  }

  of({ group, resource }: GroupResource): QuotaEvaluator {
    const key = `${group}/${resource}`;
    let evaluator = this.#evaluators.get(key);
    if (!evaluator) {
      evaluator = new ObjectCountEvaluator(group, resource, Object.hasOwn(aliases, key) ? aliases[key] : undefined);
      this.#evaluators.set(key, evaluator);
    }
    return evaluator;
  }

  /** Returns the resources that the names of a quota limit. */
  resourcesOf(names: readonly string[]): GroupResource[] {
    const own = [...this.#own].filter((key) => this.#evaluators.get(key)!.matchingResources(names).length > 0);
    const aliased = Object.keys(aliases).filter((key) => names.includes(aliases[key] as string));
    const counted = names.flatMap((name) => countedResource(name) ?? []);
    return [...new Set([...own, ...aliased, ...counted.map(({ group, resource }) => `${group}/${resource}`)])].map(resourceOf);
  }
}

function resourceOf(key: string): GroupResource {
  const slash = key.indexOf('/');
  return { group: key.slice(0, slash), resource: key.slice(slash + 1) };
}

/** Returns the resource of `count/RESOURCE.GROUP`; undefined for other names. */
function countedResource(name: string): GroupResource | undefined {
  if (!name.startsWith('count/')) return undefined;
  const [resource = '', ...rest] = name.slice('count/'.length).split('.');
  const group = rest.join('.');
  return objectCountName(group, resource) === name ? { group, resource } : undefined;
}
