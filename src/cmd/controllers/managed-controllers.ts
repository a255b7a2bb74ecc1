import { Inject, Injectable } from '@nestjs/common';
import { Container } from 'inversify';
import { PolicyScan } from '#apiserver/admission/scan/policy-scan';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { ClusterCredentials } from '#apiserver/controllers/cluster-credentials';
import type { ControllerOptions, Reconciler } from '#apiserver/controllers/controller';
import { ControllerClient } from '#apiserver/controllers/controller-client';
import type { ManagedController } from '#apiserver/controllers/controller-manager';
import { EventRecorder } from '#apiserver/controllers/event-recorder';
import { ConfigMapStore, KeyValueStore } from '#apiserver/controllers/key-value-store';
import { NodeCidrRanges } from '#apiserver/controllers/node-cidr-ranges';
import { ReconcileTraces } from '#apiserver/controllers/reconcile-traces';
import { LateRequestQueue, RequestQueue } from '#apiserver/controllers/request-queue';
import { CachedSharedInformers, SharedInformers, TakenInformers } from '#apiserver/controllers/shared-informer';
import { guardController } from '#apiserver/plugins/guard-controller';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { type OnFault, PackageSharedInformers } from '#apiserver/plugins/package-shared-informers';
import { PluginFailures, reasonOf } from '#apiserver/plugins/plugin-failures';
import { type PluginOrigin, runnerInContext } from '#apiserver/plugins/plugin-origin';
import { LateInformers } from '#apiserver/registry/informers';
import type { UserInfo } from '#apiserver/request/user-info';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { RequestTraces } from '#apiserver/tracing/request-traces';
import { Log } from '#cmd/logging/log';
import { Contributions } from '#cmd/modules/contributions';
import { Lifetime } from '#cmd/modules/lifetime';
import { gitVersion } from '#cmd/version';
import { ensureControllerRole, whenRolesAreKnown } from '#kubernetes/controlplane/controller-roles';
import { ControllerClients } from './controller-clients.ts';
import { EventRecorders } from './event-recorders.ts';

const namespace = 'kube-system';

/** Gives the controllers of the server and of packages what they inject, each as a user of its own. */
@Injectable()
export class ManagedControllers {
  readonly #informers: CachedSharedInformers;

  constructor(
    @Inject(Contributions) private readonly contributions: Contributions,
    @Inject(Container) private readonly services: Container,
    @Inject(LateInformers) informers: LateInformers,
    @Inject(LoopbackClient) private readonly loopback: LoopbackClient,
    @Inject(LimitedRegistry) private readonly registry: LimitedRegistry,
    @Inject(Log) private readonly log: Log,
    @Inject(Lifetime) lifetime: Lifetime,
    @Inject(ClusterCredentials) private readonly credentials: ClusterCredentials,
    @Inject(RequestTraces) private readonly traces: RequestTraces,
    @Inject(PolicyScan) private readonly policyScan: PolicyScan,
    @Inject(NodeCidrRanges) private readonly nodeCidrs: NodeCidrRanges,
    @Inject(ControllerClients) private readonly clients: ControllerClients,
    @Inject(EventRecorders) private readonly recorders: EventRecorders,
  ) {
    const onError = (error: unknown): void => log.error({ reason: String(error) }, 'a controller failed to handle a change');
    this.#informers = lifetime.use(new CachedSharedInformers(informers, onError));
  }

  /** Returns the controllers of packages. Their first instances are created at once: a broken controller stops the start. */
  ofPackages(): ManagedController[] {
    return this.contributions.of('Controller').map((contribution) => {
      const { make, ...managed } = this.manage(contribution, withEvents(contribution.described.options as ControllerOptions));
      let first: ReturnType<typeof make> | undefined = make();
      return {
        ...managed,
        make: () => {
          const made = first ?? make();
          first = undefined;
          return made;
        },
      };
    });
  }

  /** `rules`: permissions of its user; undefined: those of upstream's role for it. */
  manage(contribution: LoadedContribution, rules = (contribution.described.options as ControllerOptions).rules): ManagedController {
    const options = contribution.described.options as ControllerOptions;
    const { name, component = name, serviceAccount = name, events = 'events.k8s.io' } = options;
    const client = this.clients.of(userOf(options), userAgentOf(options));
    const store = new ConfigMapStore(this.loopback, name);
    const instances = new WeakMap<object, object>();
    const traces = new ReconcileTraces(name, userOf(options), this.traces);
    const { source, onFault } = this.#informersOf(contribution);
    const bindings: readonly [symbol, object][] = [
      [ControllerClient, client],
      [EventRecorder, this.recorders.create({ component, form: events, client })],
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
  #informersOf({ origin, described }: LoadedContribution): { source: SharedInformers; onFault: OnFault | undefined } {
    if (!origin) return { source: this.#informers, onFault: undefined };
    const { name } = described.options;
    const failures = new PluginFailures(this.log, new RegistryMetrics(this.registry));
    const plugin = { sort: 'controller', name, package: origin.package };
    const onFault: OnFault = (what, error) => failures.record(plugin, reasonOf(error), error, { function: what });
    return { source: new PackageSharedInformers(this.#informers, origin, name, onFault), onFault };
  }
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
