import { Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { newBadRequest, newNotFound, newServiceUnavailable } from '#apimachinery/api/errors';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { proxyRequest, type ProxyLocation } from '#apiserver/endpoints/handlers/proxy';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import { escapePath, joinPath } from '#apiserver/request/path';
import type { RequestContext } from '#apiserver/request/request-context';
import type { Store } from '#apiserver/registry/store';
import { Stores } from '#apiserver/registry/stores';
import { trustOptions } from '#apiserver/network/trust';
import type { EndpointAddress, Endpoints, Pod, Service } from '#kubernetes/schema/core_v1.gen';
import { admitConnect } from './connect.ts';
import { KubeletConnections } from './kubelet-connection.ts';
import { isGlobalUnicast, proxyableAddress } from './proxyable-address.ts';

/** Certificates of workloads are not verified, as upstream. */
const unchecked = trustOptions({ insecure: true });

/** Parsed form of `name`, `name:port` or `scheme:name:port`. */
interface Target {
  readonly secure: boolean;
  readonly name: string;
  readonly port: string;
}

/** Parses a proxy target. `what` (pod, service or node) appears in messages. Throws BadRequest. Upstream: apimachinery/pkg/util/net/port_split.go. */
function splitTarget(id: string, what: string): Target {
  const parts = id.split(':');
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? ''];
  if (parts.length > 3 || !name || !['', 'http', 'https'].includes(scheme as string))
    throw newBadRequest(`invalid ${what} request ${JSON.stringify(id)}`);
  return { secure: scheme === 'https', name, port: port as string };
}

/** Returns the decoded path after `/proxy`; empty if there is none. Upstream: endpoints/handlers/get.go (getRequestOptions). */
function pathBehind({ path, info }: RequestContext): string {
  const rest = info.parts.slice(3).join('/');
  const behind = rest === '' || rest.startsWith('/') ? rest : `/${rest}`;
  return path.endsWith('/') && !behind.endsWith('/') ? `${behind}/` : behind;
}

/** Returns the path for the backend: without dot segments, escaped again. Upstream: registry/core/pod/rest/subresources.go (ProxyREST.Connect). */
const sentPath = (path: string): string => escapePath(joinPath('', path));

function portOf({ port, secure }: Target): number {
  return port === '' ? (secure ? 443 : 80) : Number(port);
}

/** Proxies any method to a pod. Upstream: kubernetes/pkg/registry/core/pod/strategy.go (ResourceLocation). */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class PodProxyHandler {
  constructor(@Inject(KubeletConnections) private readonly connections: KubeletConnections) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { namespace } = context.info;
    const path = pathBehind(context);
    await admitConnect(context, endpoint, { path });
    const target = splitTarget(context.info.name, 'pod');
    const pod = (await endpoint.store.get(namespace, target.name, '')).object as Pod;
    const ip = pod.status?.podIPs?.[0]?.ip ?? '';
    if (!isGlobalUnicast(ip)) throw newBadRequest('address not allowed');
    const first = pod.spec?.containers?.find(({ ports }) => ports?.length)?.ports?.[0]?.containerPort;
    const port = target.port === '' && first !== undefined ? first : portOf(target);
    await proxyRequest(
      context,
      { secure: target.secure, host: ip, port, path: sentPath(path), query: '', tls: unchecked, ...this.connections.way },
      false,
    );
  }
}

/** Proxies any method to a node's kubelet, or to another port of the node. Upstream: kubernetes/pkg/registry/core/node/strategy.go (ResourceLocation). */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class NodeProxyHandler {
  constructor(@Inject(KubeletConnections) private readonly kubelets: KubeletConnections) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const path = pathBehind(context);
    await admitConnect(context, endpoint, { path });
    const target = splitTarget(context.info.name, 'node');
    const kubelet = await this.kubelets.locate(target.name, 'nodes');
    const isKubelet = target.port === '' || target.port === String(kubelet.port);
    const address = isKubelet && this.kubelets.isOwn(kubelet) ? kubelet.host : await proxyableAddress(kubelet.host);
    const location: ProxyLocation = isKubelet
      ? { ...kubelet, address, path: sentPath(path), query: '' }
      : { ...kubelet, secure: target.secure, address, port: portOf(target), path: sentPath(path), query: '', tls: unchecked };
    await proxyRequest(context, location, false);
  }
}

/** Proxies any method to a pod of a service. Upstream: kubernetes/pkg/registry/core/service/storage (ResourceLocation). */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class ServiceProxyHandler {
  constructor(
    @Inject(Stores) private readonly stores: Stores,
    @Inject(KubeletConnections) private readonly connections: KubeletConnections,
  ) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { namespace, name: id } = context.info;
    const path = pathBehind(context);
    await admitConnect(context, endpoint, { path });
    const target = splitTarget(id, 'service');
    const portName = /^[+-]?\d+$/.test(target.port) ? await declaredPort(endpoint.store, namespace, target) : target.port;
    const address = await this.#addressOf(namespace, target.name, portName);
    if (!address) throw newServiceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`);
    await proxyRequest(
      context,
      {
        secure: target.secure,
        host: address.ip,
        port: address.port,
        path: sentPath(path),
        query: '',
        tls: unchecked,
        ...this.connections.way,
      },
      false,
    );
  }

  /** Returns a random pod address of a subset that has the port. */
  async #addressOf(namespace: string, name: string, portName: string): Promise<{ ip: string; port: number } | undefined> {
    const store = this.stores.of({ group: '', resource: 'endpoints' });
    const found = await store.cacher.get(store.key(namespace, name), '');
    // As upstream, the error names the service.
    if (!found) throw newNotFound({ group: '', resource: 'services' }, name);
    const { subsets = [] } = found.object as Endpoints;
    if (subsets.length === 0) throw newServiceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
    for (const { addresses = [], ports = [] } of shuffled(subsets)) {
      for (const port of ports.filter((one) => (one.name ?? '') === portName)) {
        for (const address of shuffled(addresses))
          if (await this.#isPods(namespace, address)) return { ip: address.ip ?? '', port: port.port ?? 0 };
      }
    }
    return undefined;
  }

  /** True if the address belongs to a pod. Only pods are proxied to, since an author of Endpoints could name any other address. */
  async #isPods(namespace: string, { ip, targetRef }: EndpointAddress): Promise<boolean> {
    if (!targetRef?.name || targetRef.namespace !== namespace) return false;
    const store = this.stores.of({ group: '', resource: 'pods' });
    const found = await store.cacher.get(store.key(namespace, targetRef.name), '');
    return ((found?.object as Pod | undefined)?.status?.podIPs ?? []).some((podIp) => podIp.ip === ip);
  }
}

/** Returns the name of the port with a given number. */
async function declaredPort(services: Store, namespace: string, { name, port }: Target): Promise<string> {
  const { spec } = (await services.get(namespace, name, '')).object as Service;
  const declared = spec?.ports?.find((one) => one.port === Number(port));
  if (!declared) throw newServiceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`);
  return declared.name ?? '';
}

/** Returns the items rotated to a random start. */
function shuffled<T>(items: readonly T[]): readonly T[] {
  const start = Math.floor(Math.random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
