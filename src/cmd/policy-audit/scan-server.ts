import { setTimeout } from 'node:timers/promises';
import { Container } from 'inversify';
import type { AdmissionHandler } from '#apiserver/admission/attributes';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { ObjectScan } from '#apiserver/admission/scan/object-scan';
import { isScanned } from '#apiserver/admission/scan/scanned-plugins';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { GroupResource, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import { immediate } from '#apimachinery/runtime/pace';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { PluginServices } from '#apiserver/plugins/plugin-services';
import { Client } from '#apiserver/registry/client';
import { Informers } from '#apiserver/registry/informers';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import type { UserInfo } from '#apiserver/request/user-info';
import { ApiServers } from '#cmd/apis/api-servers';
import type { App } from '#cmd/app';
import { completeOptions } from '#cmd/options/complete';
import { readServerOptions } from '#cmd/options/read-server-options';

/** Options of a server that evaluates policies. */
export interface ScanServerOptions {
  /** Path of a ServerConfiguration, whose packages and settings of admission plugins are used. */
  readonly config: string | undefined;
  /** True for the built-in plugins that are used, if they are enabled. */
  readonly isUsed: (plugin: string) => boolean;
  /** True: validating webhooks without side effects are called. */
  readonly webhooks: boolean;
  readonly user: UserInfo;
  /** Client of the plugins of packages. */
  readonly client: Client;
}

/** Time until a new definition is served, in milliseconds. */
const servedMs = 10_000;
const pollMs = 20;

/**
 * A server in this process without a port, whose admission chain evaluates the objects of another cluster. It stores the objects that
 * policies read (namespaces, definitions, policies, parameters), not those that are evaluated.
 */
export class ScanServer implements AsyncDisposable {
  readonly scan: ObjectScan;
  readonly plugins: readonly AdmissionHandler[];

  private constructor(
    private readonly app: App,
    /** Resources that the plugins of packages read through informers. */
    readonly informed: ReadonlyMap<string, GroupResource>,
    private readonly end: () => Promise<void>,
    { user, webhooks }: ScanServerOptions,
  ) {
    const chain = app.nest.get(AdmissionChain);
    this.plugins = chain.plugins;
    this.scan = new ObjectScan(chain, user, webhooks);
  }

  /** Rejects for a wrong configuration. */
  static async start(options: ScanServerOptions): Promise<ScanServer> {
    const { config: file, isUsed, client, webhooks } = options;
    const command = await readServerOptions([
      '--ephemeral',
      '--controllers=-*',
      '--runtime-config=api/all=true',
      ...(file === undefined ? [] : [`--config=${file}`]),
    ]);
    if (!('options' in command)) throw new Error('the configuration does not start a server');
    const { config, dispose } = await completeOptions(command.options);
    const { createApp } = await import('#cmd/app');
    const informed = new Map<string, GroupResource>();
    const app = await createApp({
      ...config,
      storage: { backend: 'embedded', file: undefined },
      serving: undefined,
      audit: undefined,
      verbosity: -1,
      admission: config.admission.filter((name) => isScanned(name, webhooks) && isUsed(name)),
      plugins: config.plugins
        ?.filter(({ described: { kind } }) => kind === 'AdmissionPlugin' || kind === 'ApiGroup')
        .map((contribution) => readingFrom(contribution, client, informed)),
    });
    await app.start();
    const end = async (): Promise<void> => {
      await app.stop();
      await dispose();
    };
    return new ScanServer(app, informed, end, options);
  }

  /** Returns the endpoint of a resource; undefined if this server does not know it. */
  endpointOf({ group, version, resource }: GroupVersionResource): ResourceEndpoint | undefined {
    for (const { endpoints } of this.app.nest.get(ApiServers).chain) {
      const endpoint = endpoints.get(`${group}/${version}`)?.get(resource)?.endpoint;
      if (endpoint) return endpoint.definition.storagePath === undefined ? undefined : endpoint;
    }
    return undefined;
  }

  /** Resolves with false if a resource is not served in time. */
  async whenServed(resource: GroupVersionResource): Promise<boolean> {
    for (const until = performance.now() + servedMs; performance.now() < until; await setTimeout(pollMs))
      if (this.endpointOf(resource)) return true;
    return false;
  }

  /** Returns an object of the API in the form of the admission. */
  decode({ admission, kind }: ResourceEndpoint, document: KubeObject): KubeObject {
    return admission.forms.complete(admission.forms.decode(document, kind), kind);
  }

  /** Stores an object as it is, with its uid, times and status. Replaces a stored one. */
  async put(endpoint: ResourceEndpoint, document: KubeObject): Promise<void> {
    const { store } = endpoint;
    const object = this.decode(endpoint, document);
    const { namespace = '', name = '' } = object.metadata;
    const key = store.key(namespace, name);
    const { at } = await store.encoding.encodeRevision(immediate, object, 0);
    const present = await store.storage.get(key);
    await (present ? store.storage.update(key, present.revision, at) : store.storage.create(key, at));
  }

  /** Stores a new object with the defaults and checks of the API. Rejects with Invalid. */
  async create(resource: GroupVersionResource, object: KubeObject): Promise<void> {
    await this.app.nest.get(LoopbackClient).create(resource, object);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/**
 * Returns a contribution whose instance has another client, and whose informers are recorded in `informed`, so that their objects can be
 * loaded.
 */
function readingFrom(contribution: LoadedContribution, client: Client, informed: Map<string, GroupResource>): LoadedContribution {
  return {
    ...contribution,
    make: (services, own) => {
      const parent = new Container({ parent: services });
      const informers = recording(services.get<Informers>(Informers), informed);
      parent.bind(Client).toConstantValue(client);
      parent.bind(Informers).toConstantValue(informers);
      parent.bind(PluginServices).toConstantValue({ ...services.get<PluginServices>(PluginServices), client, informers });
      return contribution.make(parent, own);
    },
  };
}

function recording(informers: Informers, informed: Map<string, GroupResource>): Informers {
  return {
    for(resource) {
      informed.set(`${resource.resource}.${resource.group}`, resource);
      return informers.for(resource);
    },
  };
}
