import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type DynamicModule, Inject, Injectable, Module } from '@nestjs/common';
import { Container } from 'inversify';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { PolicyScan } from '#apiserver/admission/scan/policy-scan';
import { TokenIssuer } from '#apiserver/authentication/token-issuer';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { ConcurrencyLimit } from '#apiserver/base/concurrency-limit';
import { systemClock } from '#apiserver/base/clock';
import { FeatureGates } from '#apiserver/base/feature-gates';
import type { ControllerOptions, Reconciler } from '#apiserver/controllers/controller';
import { ControllerManager, type Election, type ManagedController } from '#apiserver/controllers/controller-manager';
import { ControllerMetrics } from '#apiserver/controllers/controller-metrics';
import { ClusterCredentials } from '#apiserver/controllers/cluster-credentials';
import { ControllerClient } from '#apiserver/controllers/controller-client';
import { ClientEventRecorder, EventRecorder } from '#apiserver/controllers/event-recorder';
import { ConfigMapStore, KeyValueStore } from '#apiserver/controllers/key-value-store';
import { LocalComponents } from '#apiserver/controllers/local-components';
import { NodeCidrRanges } from '#apiserver/controllers/node-cidr-ranges';
import { ReconcileTraces } from '#apiserver/controllers/reconcile-traces';
import { LateRequestQueue, RequestQueue } from '#apiserver/controllers/request-queue';
import { CachedSharedInformers, SharedInformers, TakenInformers } from '#apiserver/controllers/shared-informer';
import { type OnFault, PackageSharedInformers } from '#apiserver/plugins/package-shared-informers';
import { PluginFailures, reasonOf } from '#apiserver/plugins/plugin-failures';
import { type PluginOrigin, runnerInContext } from '#apiserver/plugins/plugin-origin';
import { guardController } from '#apiserver/plugins/guard-controller';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { RequestTraces } from '#apiserver/tracing/request-traces';
import { LateInformers } from '#apiserver/registry/informers';
import type { GenericServer } from '#apiserver/server/generic-server';
import { ChainPolicyScan } from '#apiserver/server/chain-policy-scan';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';
import { UserClient } from '#apiserver/server/user-client';
import { ApiServers } from '#cmd/apis/api-servers';
import { Log } from '#cmd/logging/log';
import type { ServerConfig, StorageConfig } from '#cmd/server-config';
import { UserRequests } from '#cmd/serving/user-requests';
import { ensureControllerRole, whenRolesAreKnown } from '#kubernetes/controlplane/controller-roles';
import type { JwtTokenIssuer } from '#kubernetes/serviceaccount/jwt-token-issuer';
import { LeaderElector } from '#kubernetes/controlplane/leader-election/leader-elector';
import { gitVersion } from '#cmd/version';
import { Contributions } from './contributions.ts';
import { Lifetime } from './lifetime.ts';
import { ServerPart } from './server-part.ts';

/** Upstream: the defaults of --leader-elect-lease-duration, --leader-elect-renew-deadline and --leader-elect-retry-period. */
const timers = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };
/**
 * Requests that a controller may have in progress. It creates hundreds of pods at once, and requests that begin or end together block the event
 * loop together.
 */
const maxRequests = 16;
const namespace = 'kube-system';
/** Time for the events that wait to be written when the server shuts down. */
const flushMs = 3_000;
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } as const;
/** User of the events about leases. */
const controlPlane: UserInfo = { name: userNames.apiServer, groups: [groupNames.privileged] };
/** User of the writes that a policy scan assumes; the same as that of `kubenest audit`. */
const scanUser: UserInfo = { name: 'kubenest:audit', groups: ['system:authenticated'] };
/** Injection tokens of the selected built-in controllers, and of the identity in elections. */
const selection = Symbol('selectedControllers');
const electionIdentity = Symbol('electionIdentity');

/** The controllers of the server and of packages. */
@Injectable()
@ServerPart()
export class Controllers implements ServerPart {
  #ofPackages: readonly ManagedController[] = [];
  readonly #informers: CachedSharedInformers;
  readonly #ending = new AbortController();
  /** Aborts when no more events are written. */
  readonly #flushed = new AbortController();
  readonly #recorders: ClientEventRecorder[] = [];
  #ended: Promise<void> | undefined;
  #failures: PluginFailures | undefined;

  constructor(
    @Inject(selection) private readonly selected: ServerConfig['controllers'],
    @Inject(Contributions) private readonly contributions: Contributions,
    @Inject(Container) private readonly services: Container,
    @Inject(LateInformers) informers: LateInformers,
    @Inject(UserRequests) private readonly requests: UserRequests,
    @Inject(LoopbackClient) private readonly loopback: LoopbackClient,
    @Inject(LimitedRegistry) private readonly registry: LimitedRegistry,
    @Inject(WorkQueueMetrics) private readonly queueMetrics: WorkQueueMetrics,
    @Inject(Log) private readonly log: Log,
    @Inject(Lifetime) lifetime: Lifetime,
    @Inject(ClusterCredentials) private readonly credentials: ClusterCredentials,
    @Inject(RequestTraces) private readonly traces: RequestTraces,
    @Inject(electionIdentity) private readonly identity: string,
    @Inject(FeatureGates) private readonly features: FeatureGates,
    @Inject(PolicyScan) private readonly policyScan: PolicyScan,
    @Inject(NodeCidrRanges) private readonly nodeCidrs: NodeCidrRanges,
    @Inject(LocalComponents) private readonly components: LocalComponents,
  ) {
    const onError = (error: unknown): void => log.error({ reason: String(error) }, 'a controller failed to handle a change');
    this.#informers = lifetime.use(new CachedSharedInformers(informers, onError));
  }

  install({ hooks }: GenericServer): void {
    this.#ofPackages = this.contributions.of('Controller').map((one) => {
      const options = one.described.options as ControllerOptions;
      return this.#tried(this.#managed(one, withEvents(options)));
    });
    hooks.addPreShutdown({
      name: 'stop-controllers',
      run: async () => {
        this.#ending.abort();
        await this.#ended;
        await this.#flush();
      },
    });
  }

  /** Runs the controllers until the server shuts down. Called once the server is ready, so that they do not delay its start. */
  start(): void {
    if (!this.selected && this.#ofPackages.length === 0) return;
    this.#ended = this.#run(this.#ending.signal).catch((error: unknown) =>
      this.log.error({ reason: (error as Error).message }, 'the controllers have ended'),
    );
  }

  /** Writes the events of the last reconciles, as far as the time allows. */
  async #flush(): Promise<void> {
    const timeout = Promise.withResolvers<void>();
    const cancel = systemClock.after(flushMs, timeout.resolve);
    await Promise.race([Promise.all(this.#recorders.map((recorder) => recorder.flushed())), timeout.promise]);
    cancel();
    this.#flushed.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const builtIn = (await this.selected?.()) ?? [];
    const controllers = [...builtIn.map((one) => this.#managed(one)), ...this.#ofPackages];
    const manager = new ControllerManager({
      controllers: controllers.filter(({ options: { featureGate } }) => featureGate === undefined || this.features.enabled(featureGate)),
      elect: this.#elect,
      components: this.components,
      metrics: new ControllerMetrics(new RegistryMetrics(this.registry), this.queueMetrics),
      clock: systemClock,
      logger: this.log,
    });
    await whenRolesAreKnown(this.loopback);
    await manager.run(signal);
  }

  /** Creates the instance of the first term at once, so that a package with a broken controller stops the start. */
  #tried({ make, ...managed }: ManagedController): ManagedController {
    let first: ReturnType<typeof make> | undefined = make();
    return {
      ...managed,
      make: () => {
        const made = first ?? make();
        first = undefined;
        return made;
      },
    };
  }

  /** `rules`: permissions of its user; undefined: those of upstream's role for it. */
  #managed(contribution: LoadedContribution, rules = (contribution.described.options as ControllerOptions).rules): ManagedController {
    const options = contribution.described.options as ControllerOptions;
    const client = new UserClient(this.requests.serveController, userOf(options), userAgentOf(options), new ConcurrencyLimit(maxRequests));
    const { name, component = name, serviceAccount = name, events = 'events.k8s.io' } = options;
    const recorder = new ClientEventRecorder({
      component,
      form: events,
      client,
      clock: systemClock,
      logger: this.log,
      signal: this.#flushed.signal,
    });
    this.#recorders.push(recorder);
    const store = new ConfigMapStore(this.loopback, name);
    const instances = new WeakMap<object, object>();
    const traces = new ReconcileTraces(name, userOf(options), this.traces);
    const { informers: source, onFault } = this.#informersOf(contribution);
    const bindings: readonly [symbol, object][] = [
      [ControllerClient, client],
      [EventRecorder, recorder],
      [ClusterCredentials, this.credentials],
      [NodeCidrRanges, this.nodeCidrs],
      [KeyValueStore, store],
      [PolicyScan, this.policyScan],
    ];
    return {
      options: withOwnFilter(options, contribution.origin),
      prepare: async () => {
        if (!rules) return;
        await ensureControllerRole(this.loopback, { controller: name, serviceAccount, rules });
        await whenRolesAreKnown(this.loopback);
      },
      make: () => {
        const requests = new LateRequestQueue();
        const informers = new TakenInformers(source);
        const own = new Map([...bindings, [SharedInformers, informers], [RequestQueue, requests]]);
        const instance = this.contributions.instantiate(contribution, this.services, own);
        const controller = guardController(instance as Reconciler, contribution.origin);
        instances.set(controller, instance);
        return { controller, informers, requests, store, traces, onFault };
      },
      dispose: async (controller) => this.contributions.instances?.dispose(instances.get(controller) ?? controller),
    };
  }

  /** Returns the informers of a controller, and what reports its faults: for one of a package, as failures of the package. */
  #informersOf({ origin, described }: LoadedContribution): { informers: SharedInformers; onFault: OnFault | undefined } {
    if (!origin) return { informers: this.#informers, onFault: undefined };
    const { name } = described.options;
    this.#failures ??= new PluginFailures(this.log, new RegistryMetrics(this.registry));
    const plugin = { sort: 'controller', name, package: origin.package };
    const onFault: OnFault = (what, error) => this.#failures?.record(plugin, reasonOf(error), error, { function: what });
    return { informers: new PackageSharedInformers(this.#informers, origin, name, onFault), onFault };
  }

  readonly #elect: Election = async (name, signal, lead) => {
    const recorder = this.#recorder(name === 'kube-scheduler' ? 'default-scheduler' : name);
    const report = async (state: string): Promise<void> => {
      const lease = await this.loopback.get(leases, namespace, name);
      if (lease) recorder.event(lease, 'Normal', 'LeaderElection', `${this.identity} ${state}`);
    };
    const reported = (state: string): void =>
      void report(state).catch((error: Error) => this.log.warn({ lease: name, reason: error.message }, 'cannot report the leader'));
    const elector = new LeaderElector({
      client: this.loopback,
      namespace,
      name,
      identity: this.identity,
      timers,
      onError: (error) => this.log.error({ lease: name, reason: (error as Error).message }, 'an attempt at leader election failed'),
    });
    await elector.run(signal, async (term) => {
      reported('became leader');
      await lead(term);
      // Upstream reports no release at the shutdown.
      if (!signal.aborted) reported('stopped leading');
    });
  };

  /** Returns the recorder of a component of the control plane, which writes as the server. */
  #recorder(component: string): ClientEventRecorder {
    const client = new UserClient(this.requests.serveController, controlPlane, component, new ConcurrencyLimit(maxRequests));
    const options = { component, form: 'v1', client, clock: systemClock, logger: this.log, signal: this.#flushed.signal } as const;
    const recorder = new ClientEventRecorder(options);
    this.#recorders.push(recorder);
    return recorder;
  }
}

/**
 * Returns the identity in elections. An embedded store has one server at a time, which therefore keeps its identity: after a crash it need
 * not wait until its own lease expires.
 */
function identityOf(storage: StorageConfig): string {
  const file = storage.backend === 'embedded' ? storage.file : undefined;
  const id = file === undefined ? randomUUID() : createHash('sha256').update(file).digest('hex').slice(0, 32);
  return `${hostname()}_${id}`;
}

/** Runs the filter of a package's controller as work of the package. */
function withOwnFilter(options: ControllerOptions, origin: PluginOrigin | undefined): ControllerOptions {
  const { filter } = options;
  if (!filter || !origin) return options;
  const run = runnerInContext(origin);
  return { ...options, filter: (object, old) => run(() => filter.call(options, object, old)) };
}

/** Returns the user of a controller. Upstream: the service account of `--use-service-account-credentials`. */
function userOf({ name, serviceAccount = name }: ControllerOptions): UserInfo {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { name: `system:serviceaccount:${namespace}:${serviceAccount}`, groups };
}

/** Returns the permissions of a package's controller, with that to write its events. Upstream: eventsRule (bootstrappolicy). */
function withEvents({ events = 'events.k8s.io', rules = [] }: ControllerOptions): NonNullable<ControllerOptions['rules']> {
  if (rules.some(({ resources }) => resources.includes('events'))) return rules;
  return [...rules, { apiGroups: [events === 'v1' ? '' : events], resources: ['events'], verbs: ['create', 'patch'] }];
}

function userAgentOf({ name, userAgent = name }: ControllerOptions): string {
  return `${userAgent}/${gitVersion} (${process.platform}/${process.arch}) ${name}`;
}

/** Controllers in the server's process, each as a user of its own, and the election of the server that runs them. */
@Module({})
export class ControllersModule {
  /** `serving`: the module of the kept traces. `serviceAccounts`: the module of the signer of tokens. */
  static register(
    {
      controllers,
      nodeCidrs = { pods: [], services: [] },
      rootCertificateAuthority = '',
      signCertificateRequest,
      storage,
    }: Pick<ServerConfig, 'controllers' | 'nodeCidrs' | 'rootCertificateAuthority' | 'signCertificateRequest' | 'storage'>,
    serving: DynamicModule,
    serviceAccounts: DynamicModule,
  ): DynamicModule {
    return {
      module: ControllersModule,
      imports: [serving, serviceAccounts],
      providers: [
        { provide: selection, useValue: controllers },
        { provide: electionIdentity, useValue: identityOf(storage) },
        { provide: NodeCidrRanges, useValue: nodeCidrs },
        {
          provide: ClusterCredentials,
          useFactory: (issuer?: JwtTokenIssuer): ClusterCredentials => ({
            rootCertificateAuthority,
            signSecretToken: issuer?.signSecretToken,
            signCertificateRequest,
          }),
          inject: [{ token: TokenIssuer, optional: true }],
        },
        {
          provide: PolicyScan,
          useFactory: ({ chain: servers }: ApiServers, chain: AdmissionChain): PolicyScan => new ChainPolicyScan(servers, chain, scanUser),
          inject: [ApiServers, AdmissionChain],
        },
        Controllers,
      ],
    };
  }
}
