import type { ApiGroup } from '#apiserver/registry/api-group';
import { Scheme } from '#apiserver/registry/scheme';
import type { ApiServerTarget } from '#apiserver/server/api-server-target';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { ResourceConfig } from '#apiserver/server/resource-config';
import { apiGroups } from './api-groups.ts';
import { ApiServers } from './api-servers.ts';

/** A built-in group and the server that serves it. */
export interface PlacedGroup {
  readonly group: ApiGroup;
  readonly target: ApiServerTarget;
}

/** The enabled built-in APIs, and the servers that serve them. */
export class ServedApis {
  readonly servers = new ApiServers();
  readonly scheme = new Scheme();
  readonly groups: readonly PlacedGroup[];

  /** `admissionPlugins`: names of the enabled plugins; some require APIs that Kubernetes has removed. */
  constructor(resourceConfig: ResourceConfig, features: FeatureGates, admissionPlugins: readonly string[]) {
    const builders = apiGroups(admissionPlugins);
    const { servers } = this;
    const served = (['kubernetes', 'apiextensions', 'aggregator'] as const).map((name) => ({
      target: servers[name],
      builder: builders[name],
      groups: resourceConfig.served(builders[name].groups, features),
    }));
    for (const { builder, groups } of served) builder.addToScheme(this.scheme, groups);
    this.groups = [
      ...served.flatMap(({ groups, target }) => groups.map((group) => ({ group, target }))),
      ...served.flatMap(({ builder }) =>
        resourceConfig.switchedOff(builder.groups).map((group) => ({ group, target: servers.switchedOff })),
      ),
    ];
  }
}
