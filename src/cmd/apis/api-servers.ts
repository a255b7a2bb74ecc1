import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { LoopbackTarget } from '#apiserver/server/loopback-client';
import { ApiServerTarget } from '#apiserver/server/api-server-target';

/** The servers of the process that serve resources. */
export class ApiServers {
  readonly aggregator = new ApiServerTarget('kube-aggregator');
  readonly kubernetes = new ApiServerTarget('kube-apiserver');
  readonly apiextensions = new ApiServerTarget('apiextensions-apiserver');
  /** Serves the groups of packages. */
  readonly contributed = new ApiServerTarget('contributed');
  readonly customResources = new ApiServerTarget('custom-resources', true);
  /** Not in the chain: APIs that `--runtime-config` switches off, which the server's own duties still use. */
  readonly switchedOff = new ApiServerTarget('switched-off');

  /** Those that clients reach, in the order in which a request is offered to them. */
  readonly chain = [this.aggregator, this.kubernetes, this.apiextensions, this.contributed, this.customResources] as const;
  /** Those that the server itself reaches. */
  readonly all = [...this.chain, this.switchedOff] as const;

  /** The endpoint of a resource, also of one that clients do not reach. Throws if there is none. */
  endpointOf({ group, version, resource, subresource }: LoopbackTarget): ResourceEndpoint {
    const path = subresource ? `${resource}/${subresource}` : resource;
    for (const target of this.all) {
      const installed = target.endpoints.get(`${group}/${version}`)?.get(path);
      if (installed) return installed.endpoint;
    }
    throw new Error(`loopback: ${path} of ${group}/${version} is not served`);
  }
}
