import type { GroupResource, GroupVersionKind, GroupVersionResource } from '#apimachinery/meta/types';
import type { SchemaRegistry, StructType } from '#apimachinery/runtime/schema';
import type { KindLookup } from './kinds.ts';
import type { ApiGroup } from './api-group.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { isUnservedKind } from './unserved-kinds.ts';

/**
 * The known kinds and resources. Groups are added at start by their modules; custom resources are added and removed at run time. Upstream:
 * apimachinery/pkg/runtime/scheme.go.
 */
export class Scheme implements KindLookup {
  readonly #groups = new Map<string, ApiGroup>();
  readonly #known = new Map<string, ApiGroup>();
  readonly #kinds = new Map<string, ResourceDefinition | undefined>();
  readonly #resources = new Map<string, ResourceDefinition>();
  readonly #schemas = new Map<string, SchemaRegistry>();

  /**
   * Adds a group. `schemas` contains the types of the group's definitions. `served` restricts what clients can access (null:
   * nothing); the rest stays known for stored objects and the server's own use. Throws if the group was added before.
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

  /** All groups, served or not. */
  get known(): readonly ApiGroup[] {
    return [...this.#known.values()];
  }

  /** The served groups in the order of their addition. */
  get groups(): readonly ApiGroup[] {
    return [...this.#groups.values()];
  }

  /** Returns the tables of a group. Throws if the group was not added. */
  schemasOf(group: string): SchemaRegistry {
    const schemas = this.#schemas.get(group);
    if (!schemas) throw new Error(`scheme: no group ${JSON.stringify(group)}`);
    return schemas;
  }

  /** Returns the preferred version of a resource, a served one if there is any. */
  resource({ group, resource }: GroupResource): ResourceDefinition | undefined {
    const named = (definition: ResourceDefinition): boolean => definition.resource === resource;
    return this.#groups.get(group)?.resources.find(named) ?? this.#known.get(group)?.resources.find(named);
  }

  definition(resource: GroupVersionResource): ResourceDefinition | undefined {
    return this.#resources.get(resourceKey(resource));
  }

  /** Returns the served definitions of the same objects, in all versions and groups. */
  equivalents({ storagePath }: ResourceDefinition): ResourceDefinition[] {
    if (storagePath === undefined) return [];
    return this.groups.flatMap(({ resources }) => resources).filter((one) => one.storagePath === storagePath);
  }

  has(kind: GroupVersionKind): boolean {
    return this.#kinds.has(kindKey(kind)) || isUnservedKind(kind);
  }

  typeOf(kind: GroupVersionKind): StructType | undefined {
    const definition = this.#kinds.get(kindKey(kind));
    return definition && !definition.custom ? this.schemasOf(kind.group).struct(definition.schema) : undefined;
  }

  /** Returns the name of the internal type. Its package is the first word of the group; for the legacy group it is `core`. */
  internalName({ group, kind }: GroupVersionKind): string {
    const first = group === '' ? 'core' : (group.split('.', 1)[0] as string);
    return `${packageNames[group] ?? first}.${kind}`;
  }
}

/** Go packages of groups that are not named after the group's first word. */
const packageNames: Readonly<Record<string, string>> = {
  'events.k8s.io': 'core',
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
