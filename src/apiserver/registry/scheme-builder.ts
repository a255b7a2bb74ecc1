import type { SchemaRegistry } from '#apimachinery/runtime/schema';
import type { ApiGroup } from './api-group.ts';
import type { Scheme } from './scheme.ts';

/** Collects the groups of a server and adds them to a scheme in order. Upstream: apimachinery/pkg/runtime/scheme_builder.go. */
export class SchemeBuilder {
  readonly #groups: ApiGroup[];

  /** `schemas` contains the tables of all of these groups. */
  constructor(
    readonly schemas: SchemaRegistry,
    ...groups: readonly ApiGroup[]
  ) {
    this.#groups = [...groups];
  }

  register(...groups: readonly ApiGroup[]): this {
    this.#groups.push(...groups);
    return this;
  }

  get groups(): readonly ApiGroup[] {
    return this.#groups;
  }

  /** `served` lists the groups, versions and resources available to clients. */
  addToScheme(scheme: Scheme, served: readonly ApiGroup[] = this.#groups): void {
    const byName = new Map(served.map((group) => [group.group, group]));
    for (const group of this.#groups) scheme.addGroup(group, this.schemas, byName.get(group.group) ?? null);
  }
}
