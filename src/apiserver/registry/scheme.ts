import type { GroupResource, GroupVersionKind, GroupVersionResource } from '#apimachinery/meta/types';
import type { SchemaRegistry } from '#apimachinery/runtime/schema';
import type { KindLookup } from './kinds.ts';
import type { ApiGroup } from './api-group.ts';
import type { ResourceDefinition } from './resource-definition.ts';

/**
 * What kinds and resources there are. Groups add themselves at start (each is a module), custom resources come and go.
 * Upstream: apimachinery/pkg/runtime/scheme.go.
 */
export class Scheme implements KindLookup {
  readonly #groups = new Map<string, ApiGroup>();
  readonly #known = new Map<string, ApiGroup>();
  readonly #kinds = new Map<string, ResourceDefinition | undefined>();
  readonly #resources = new Map<string, ResourceDefinition>();
  readonly #schemas = new Map<string, SchemaRegistry>();

  /**
   * `schemas`: the tables that the group's definitions name their types of. `served`: what of the group clients can ask for,
   * if it is not all (null: nothing); the rest is known all the same, for what is stored and for the server's own use. Throws where the group
   * is there already.
   */
  addGroup(group: ApiGroup, schemas: SchemaRegistry, served: ApiGroup | null = group): void {
    if (this.#known.has(group.group)) throw new Error(`scheme: group ${JSON.stringify(group.group)} is added twice`);
    this.#known.set(group.group, group);
    if (served) this.#groups.set(group.group, served);
    this.#schemas.set(group.group, schemas);
    for (const definition of group.resources) {
      this.#kinds.set(kindKey(definition), definition);
      this.#kinds.set(kindKey({ ...definition, kind: definition.listKind }), undefined);
      this.#resources.set(resourceKey(definition), definition);
      for (const subresource of Object.values(definition.subresources)) {
        if (subresource.kind !== undefined) {
          const key = kindKey({ ...(subresource.groupVersion ?? definition), kind: subresource.kind });
          if (!this.#kinds.has(key)) this.#kinds.set(key, undefined);
        }
      }
    }
  }

  /** The groups with all that they have, served or not. */
  get known(): readonly ApiGroup[] {
    return [...this.#known.values()];
  }

  /** What is served, in the order in which it was added. */
  get groups(): readonly ApiGroup[] {
    return [...this.#groups.values()];
  }

  /** The tables of a group. Throws for a group that was not added. */
  schemasOf(group: string): SchemaRegistry {
    const schemas = this.#schemas.get(group);
    if (!schemas) throw new Error(`scheme: no group ${JSON.stringify(group)}`);
    return schemas;
  }

  /** The preferred version of a resource: of the served ones, if any is. */
  resource({ group, resource }: GroupResource): ResourceDefinition | undefined {
    const named = (definition: ResourceDefinition): boolean => definition.resource === resource;
    return this.#groups.get(group)?.resources.find(named) ?? this.#known.get(group)?.resources.find(named);
  }

  definition(resource: GroupVersionResource): ResourceDefinition | undefined {
    return this.#resources.get(resourceKey(resource));
  }

  has(kind: GroupVersionKind): boolean {
    return this.#kinds.has(kindKey(kind));
  }

  /** The package of the internal type is the group's first word; the legacy group's is `core`. */
  internalName({ group, kind }: GroupVersionKind): string {
    const first = group === '' ? 'core' : (group.split('.', 1)[0] as string);
    return `${packageNames[group] ?? first}.${kind}`;
  }
}

/** Groups whose Go package is not named by the group's first word. */
const packageNames: Readonly<Record<string, string>> = {
  'rbac.authorization.k8s.io': 'rbac',
  'flowcontrol.apiserver.k8s.io': 'flowcontrol',
  'internal.apiserver.k8s.io': 'apiserverinternal',
};

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}

function resourceKey({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`;
}
