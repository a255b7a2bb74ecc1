import type { GroupResource } from '#apimachinery/meta/types';
import type { Store } from '#apiserver/registry/store';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { LoopbackTarget } from '#apiserver/server/loopback-client';
import { ApiServerTarget } from '#apiserver/server/api-server-target';

/** The servers in this process that serve resources. */
export class ApiServers {
  readonly aggregator = new ApiServerTarget('kube-aggregator');
  readonly kubernetes = new ApiServerTarget('kube-apiserver');
  readonly apiextensions = new ApiServerTarget('apiextensions-apiserver');
  /** Serves the groups of packages. */
  readonly contributed = new ApiServerTarget('contributed');
  readonly customResources = new ApiServerTarget('custom-resources', true);
  /** Target outside the chain: APIs that `--runtime-config` disables but the server itself still uses. */
  readonly switchedOff = new ApiServerTarget('switched-off');

  /** Servers that clients reach, in the order in which they are offered a request. */
  readonly chain = [this.aggregator, this.kubernetes, this.apiextensions, this.contributed, this.customResources] as const;
  /** Servers that the server itself reaches. */
  readonly all = [...this.chain, this.switchedOff] as const;

  /** Returns the endpoint of a resource, including those that clients cannot reach. Throws if there is none. */
  endpointOf({ group, version, resource, subresource }: LoopbackTarget): ResourceEndpoint {
    const path = subresource ? `${resource}/${subresource}` : resource;
    for (const target of this.all) {
      const installed = target.endpoints.get(`${group}/${version}`)?.get(path);
      if (installed) return installed.endpoint;
    }
    throw new Error(`loopback: ${path} of ${group}/${version} is not served`);
  }

  /** Returns the store of a custom resource; undefined if none is served. */
  customStoreOf({ group, resource }: GroupResource): Store | undefined {
    for (const [groupVersion, endpoints] of this.customResources.endpoints) {
      if (groupVersion.slice(0, groupVersion.indexOf('/')) !== group) continue;
      const installed = endpoints.get(resource);
      if (installed) return installed.endpoint.store;
    }
    return undefined;
  }
}
