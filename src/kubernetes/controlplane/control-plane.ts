import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { GenericServer } from '#apiserver/server/generic-server';
import { addressOf } from '#apiserver/network/egress-selector/egress-selector';
import type { Storage } from '#apiserver/storage/storage';
import { advertisedEndpoint } from './advertise-address.ts';
import { Autoregistration } from './autoregistration.ts';
import { ensurePriorityClasses, ensureSystemNamespaces } from './bootstrap.ts';
import { publishClusterAuthenticationInfo } from './cluster-authentication-info.ts';
import { type ControlPlaneOptions, defaultControlPlaneOptions, remoteUidGate } from './control-plane-options.ts';
import { ensureFlowControl, updateFlowSchemaStatus, watchFlowSchemas } from './flow-control.ts';
import { collectExpiredLeases, IdentityLease } from './identity-lease.ts';
import { KubernetesService, kubernetesEndpoints } from './kubernetes-service.ts';
import { CountedAddresses, LeasedAddresses } from './server-addresses.ts';
import { ensureLegacyTokenTracking } from './legacy-token-tracking.ts';
import { ElectionController } from './leader-election/election-controller.ts';
import { LeaderElector } from './leader-election/leader-elector.ts';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import { peerProxyGate } from './peer-endpoints.ts';
import { periodically, retryUntilDone } from './periodic.ts';
import { reconcileRbac } from './rbac-bootstrap.ts';
import type { StorageVersions } from './storage-versions.ts';
import type { AddressRange } from './services/address-range.ts';
import { DefaultServiceCIDR } from './services/default-service-cidr.ts';
import { ServiceRepair } from './services/service-repair.ts';
import type { ServiceAllocators } from './services/service-allocators.ts';
import type { Logger } from '#apiserver/base/logger';
import type { FeatureGates } from '#apiserver/base/feature-gates';

/** The part of the server's configuration that its control plane uses. */
export interface ControlPlaneConfig {
  readonly requests: { readonly priorityAndFairness: boolean };
  /** PEM of the authorities of client certificates, which are published. */
  readonly authentication: { readonly clientCa: string | undefined };
  /** Options that differ from the defaults. */
  readonly controlPlane?: Partial<ControlPlaneOptions> | undefined;
}

export interface ControlPlaneParts {
  readonly config: ControlPlaneConfig;
  readonly features: FeatureGates;
  readonly client: LoopbackClient;
  readonly services: ServiceAllocators;
  /** Storage version updates; undefined: disabled. */
  readonly storageVersions: StorageVersions | undefined;
  readonly storage: Storage;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** Built-in groups that the server serves. */
  readonly groups: readonly ApiGroup[];
}

const retryMs = 1_000;
const insistMs = 30_000;
const namespaceIntervalMs = 60_000;
const endpointIntervalMs = 10_000;
const leaseIntervalMs = 10_000;
const leaseCollectionMs = 3_600_000;
const candidateCollectionMs = 1_800_000;
const repairIntervalMs = 180_000;
const serviceCIDRIntervalMs = 10_000;
const authenticationInfoIntervalMs = 60_000;
const flowControlIntervalMs = 60_000;
const tokenTrackingIntervalMs = 1_800_000;
const autoregistrationIntervalMs = 60_000;
const storageVersionIntervalMs = 600_000;
/** Port in the endpoints of a server without a port. */
const defaultPort = 6443;

/** Returns kube-apiserver's hooks for which clients may wait by name. */
function upstreamHooks({ config }: Pick<ControlPlaneParts, 'config'>): string[] {
  return [
    'start-apiserver-admission-initializer',
    'generic-apiserver-start-informers',
    config.requests.priorityAndFairness ? 'priority-and-fairness-filter' : 'max-in-flight-filter',
    'storage-object-count-tracker-hook',
    'start-apiextensions-informers',
  ];
}

/** Identity lease of the server. */
interface Identity {
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void> | undefined;
  /** Resolves when the lease is written or the server ends. */
  readonly taken: Promise<void>;
}

/** Controllers of the server's own cluster. Upstream: kubernetes/pkg/controlplane. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;

  constructor(readonly parts: ControlPlaneParts) {
    this.#options = { ...defaultControlPlaneOptions, ...parts.config.controlPlane };
  }

  /** Adds the controllers as hooks under upstream's names, in upstream's order. They start and write concurrently. */
  install(server: GenericServer): void {
    const { client } = this.parts;
    const { hooks } = server;
    const services = this.#serviceControllers(server);
    const flowControl = this.#flowControl();
    const identity = this.#identity(server);
    // These hooks have no work left: it is done before the server listens, or by other hooks.
    for (const name of upstreamHooks(this.parts)) hooks.addPostStart({ name, run: () => Promise.resolve() });
    if (this.parts.config.requests.priorityAndFairness)
      hooks.addPostStart({ name: 'priority-and-fairness-config-consumer', run: flowControl.consume });
    hooks.addPostStart({
      name: 'start-system-namespaces-controller',
      run: (signal) => this.#keep(signal, namespaceIntervalMs, 'system namespaces', () => ensureSystemNamespaces(client)),
    });
    this.#installLeaderElection(server);
    hooks.addPostStart({
      name: 'start-cluster-authentication-info-controller',
      run: (signal) => this.#keep(signal, authenticationInfoIntervalMs, 'cluster authentication info', this.#publishAuthenticationInfo),
    });
    if (this.parts.features.enabled('APIServerIdentity')) this.#installIdentity(server, identity);
    hooks.addPostStart({
      name: 'start-legacy-token-tracking-controller',
      run: (signal) =>
        this.#keep(signal, tokenTrackingIntervalMs, 'legacy token tracking', () => ensureLegacyTokenTracking(client, new Date())),
    });
    hooks.addPostStart({ name: 'start-service-ip-repair-controllers', run: services.startRepair });
    hooks.addPostStart({
      name: 'rbac/bootstrap-roles',
      run: (signal) => this.#insist(signal, 'bootstrap roles', () => reconcileRbac(client, this.parts.features)),
    });
    hooks.addPostStart({
      name: 'scheduling/bootstrap-system-priority-classes',
      run: (signal) => this.#insist(signal, 'system priority classes', () => ensurePriorityClasses(client)),
    });
    hooks.addPostStart({ name: 'priority-and-fairness-config-producer', run: flowControl.produce });
    hooks.addPostStart({ name: 'bootstrap-controller', run: services.startKubernetesService });
    hooks.addPreShutdown({ name: 'bootstrap-controller', run: services.stopKubernetesService });
    hooks.addPostStart({ name: 'start-kubernetes-service-cidr-controller', run: services.startServiceCIDR });
    this.#installRegistration(server);
    const { storageVersions } = this.parts;
    if (storageVersions) this.#installStorageVersions(server, storageVersions, identity.taken);
  }

  readonly #publishAuthenticationInfo = (): Promise<void> =>
    publishClusterAuthenticationInfo(
      this.parts.client,
      {
        clientCa: this.parts.config.authentication.clientCa,
        requestHeader: this.#options.requestHeader,
        namesUids: this.parts.features.enabled(remoteUidGate),
      },
      Date.now(),
    );

  /** Returns the identity; `taken` resolves once the lease exists or the server shuts down. */
  #identity(server: GenericServer): Identity {
    let lease: IdentityLease | undefined;
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    return {
      taken,
      start: (signal) => {
        const { peerEndpoint, advertiseAddress, host } = this.#options;
        const endpoint = this.parts.features.enabled(peerProxyGate)
          ? (peerEndpoint ?? advertisedEndpoint(advertiseAddress, server.address))
          : undefined;
        const identity = new IdentityLease(this.parts.client, endpoint && addressOf(endpoint), host);
        lease = identity;
        signal.addEventListener('abort', () => resolve(), { once: true });
        return this.#keep(signal, leaseIntervalMs, 'identity lease', () => identity.renew().then(resolve));
      },
      stop: () => lease?.stop(),
    };
  }

  /** Elects leaders for other components, on one of the servers that share a store. */
  #installLeaderElection({ hooks }: GenericServer): void {
    if (!this.parts.features.enabled('CoordinatedLeaderElection')) return;
    const { client } = this.parts;
    const onError = this.#errorLogger('a leader election failed');
    const controller = 'leader-election-controller';
    const elector = new LeaderElector({
      client,
      namespace: 'kube-system',
      name: controller,
      identity: `${hostname()}_${randomUUID()}`,
      timers: this.#options.leadership,
      onError,
    });
    const ending = new AbortController();
    let over: Promise<void> | undefined;
    const name = 'start-kube-apiserver-coordinated-leader-election-controller';
    hooks.addPostStart({
      name,
      run: async (shutdown) => {
        over = elector.run(AbortSignal.any([shutdown, ending.signal]), (signal) => {
          const elections = new ElectionController(client, onError);
          const started = elections.start();
          signal.addEventListener('abort', () => started[Symbol.dispose](), { once: true });
          const collect = (): Promise<void> => elections.collectExpired();
          collect().catch(onError);
          periodically(candidateCollectionMs, signal, collect, onError);
        });
      },
    });
    hooks.addPreShutdown({
      name,
      run: () => {
        ending.abort();
        return over;
      },
    });
  }

  #serviceControllers(server: GenericServer): {
    startRepair(signal: AbortSignal): Promise<void>;
    startKubernetesService(signal: AbortSignal): Promise<void>;
    stopKubernetesService(): Promise<void> | undefined;
    startServiceCIDR(signal: AbortSignal): Promise<void>;
  } {
    const { client } = this.parts;
    const logged = new Set<string>();
    const warn = (message: string): void => {
      if (!logged.has(message)) this.parts.log.error({}, message);
      logged.add(message);
    };
    const defaultCIDR = new DefaultServiceCIDR(
      client,
      this.parts.services.cidrs.map(({ cidr }) => cidr),
      warn,
    );
    const repair = new ServiceRepair({
      client,
      clusterIPs: this.parts.services.clusterIPs,
      nodePorts: this.parts.services.nodePorts,
      warn,
    });
    let kubernetesService: KubernetesService | undefined;
    return {
      startRepair: async (signal) => {
        await this.#insist(signal, 'the default ServiceCIDR', () => defaultCIDR.whenPresent());
        await this.#keep(signal, repairIntervalMs, 'service repair', () => repair.run());
      },
      startKubernetesService: async (signal) => {
        const [range] = this.parts.services.cidrs as [AddressRange];
        const { endpointReconcilerType, advertiseAddress } = this.#options;
        const endpoint = endpointReconcilerType === 'none' ? undefined : advertisedEndpoint(advertiseAddress, server.address);
        const service = new KubernetesService({
          client,
          servers:
            endpointReconcilerType === 'master-count'
              ? new CountedAddresses(client, kubernetesEndpoints, this.#options.apiserverCount)
              : new LeasedAddresses(this.parts.storage),
          clusterIP: range.format(range.first),
          nodePort: this.#options.kubernetesServiceNodePort,
          port: server.address?.port ?? defaultPort,
          address: endpoint?.host,
        });
        kubernetesService = service;
        const sync = async (): Promise<void> => {
          await defaultCIDR.whenPresent();
          await Promise.all([service.ensureService(), service.reconcileEndpoints()]);
        };
        const onError = this.#errorLogger('cannot write the kubernetes service');
        // As upstream, the server continues if it cannot create the service (for example because its address is allocated).
        await sync().catch(onError);
        periodically(endpointIntervalMs, signal, sync, onError);
      },
      stopKubernetesService: () => kubernetesService?.stop(),
      startServiceCIDR: async (signal) => {
        await this.#insist(signal, 'the default ServiceCIDR', async () => {
          await defaultCIDR.whenPresent();
          await defaultCIDR.ensureStatus();
        });
        periodically(
          serviceCIDRIntervalMs,
          signal,
          async () => {
            await defaultCIDR.ensure();
            await defaultCIDR.ensureStatus();
          },
          this.#errorLogger('cannot write the default ServiceCIDR'),
        );
      },
    };
  }

  #flowControl(): { consume(signal: AbortSignal): Promise<void>; produce(signal: AbortSignal): Promise<void> } {
    const { client } = this.parts;
    const produced = Promise.withResolvers<void>();
    return {
      consume: async (signal) => {
        await produced.promise;
        await this.#insist(signal, 'status of flow schemas', () => updateFlowSchemaStatus(client));
        const watch = watchFlowSchemas(client, this.#errorLogger('cannot write the status of flow schemas'));
        signal.addEventListener('abort', () => watch[Symbol.dispose](), { once: true });
      },
      produce: async (signal) => {
        try {
          await this.#keep(signal, flowControlIntervalMs, 'flow control', () => ensureFlowControl(client));
        } finally {
          produced.resolve();
        }
      },
    };
  }

  #installRegistration(server: GenericServer): void {
    const registration = new Autoregistration(this.parts.client, this.parts.groups);
    let completed = false;
    server.hooks.addPostStart({
      name: 'kube-apiserver-autoregistration',
      run: async (signal) => {
        await this.#insist(signal, 'APIServices', () => registration.syncAll());
        completed = true;
        const onError = this.#errorLogger('cannot write an APIService');
        const watch = registration.watch(onError);
        signal.addEventListener('abort', () => watch[Symbol.dispose](), { once: true });
        periodically(autoregistrationIntervalMs, signal, () => registration.syncCustom(), onError);
      },
    });
    server.addHealthCheck({
      name: 'autoregister-completion',
      check: () => {
        if (!completed) throw new Error('APIServices are not registered yet');
      },
    });
  }

  /** Publishes this server's lease, and deletes expired leases of other servers. */
  #installIdentity({ hooks }: GenericServer, identity: Identity): void {
    const { client } = this.parts;
    hooks.addPostStart({ name: 'start-kube-apiserver-identity-lease-controller', run: identity.start });
    hooks.addPreShutdown({ name: 'stop-kube-apiserver-identity-lease-controller', run: identity.stop });
    hooks.addPostStart({
      name: 'start-kube-apiserver-identity-lease-garbage-collector',
      run: (signal) => this.#keep(signal, leaseCollectionMs, 'identity lease collection', () => collectExpiredLeases(client, Date.now())),
    });
  }

  /** Completes the hook, and thus makes the server ready, after the first complete update. */
  #installStorageVersions({ hooks }: GenericServer, versions: StorageVersions, identified: Promise<void>): void {
    const onError = this.#errorLogger('storage versions: the last attempt failed');
    const update = (): Promise<void> => versions.update();
    hooks.addPostStart({
      name: 'built-in-resources-storage-version-updater',
      run: async (signal) => {
        // Other servers would treat storage versions of a server without a lease as stale and delete them.
        await identified;
        if (signal.aborted) return;
        await retryUntilDone(update, { everyMs: retryMs, signal, onError });
        periodically(storageVersionIntervalMs, signal, update, onError);
      },
    });
  }

  /**
   * Retries the work while stored objects may not be readable yet. As upstream's hooks do, it ends the process after half a minute without
   * success.
   */
  #insist(signal: AbortSignal, what: string, work: () => Promise<void>): Promise<void> {
    const onError = this.#errorLogger(`${what}: the last attempt failed`);
    return retryUntilDone(work, { everyMs: retryMs, forMs: insistMs, signal, onError });
  }

  /**
   * Runs the work now and then periodically until the server shuts down. If the first attempt fails, it retries sooner and does not delay
   * the start.
   */
  async #keep(signal: AbortSignal, intervalMs: number, what: string, work: () => Promise<void>): Promise<void> {
    const onError = this.#errorLogger(`${what}: the last attempt failed`);
    const keep = (): void => periodically(intervalMs, signal, work, onError);
    try {
      await work();
      keep();
    } catch (error) {
      onError(error);
      retryUntilDone(work, { everyMs: retryMs, signal, onError }).then(keep, () => {});
    }
  }

  #errorLogger(message: string): (error: unknown) => void {
    return (error) => this.parts.log.error({ reason: error instanceof Error ? error.message : String(error) }, message);
  }
}
