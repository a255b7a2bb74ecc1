import type { ApiGroup } from '#apiserver/registry/api-group';
import type { DelegationTarget } from './delegation.ts';
import type { GroupVersionEndpoints } from '#apiserver/endpoints/installed-endpoint';

/** A server of the delegation chain that serves API groups from the generic store. */
export class ApiServerTarget implements DelegationTarget {
  readonly endpoints = new Map<string, GroupVersionEndpoints>();
  readonly groups: ApiGroup[] = [];

  constructor(
    readonly name: string,
    readonly isDynamic = false,
  ) {}

  install(group: ApiGroup, endpoints: ReadonlyMap<string, GroupVersionEndpoints>): void {
    this.groups.push(group);
    for (const [groupVersion, resources] of endpoints) this.endpoints.set(groupVersion, resources);
  }
}
