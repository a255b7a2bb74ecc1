import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import type { Election } from '#apiserver/controllers/controller-manager';
import { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { Log } from '#cmd/logging/log';
import type { StorageConfig } from '#cmd/server-config';
import { LeaderElector } from '#kubernetes/controlplane/leader-election/leader-elector';
import { ControllerClients } from './controller-clients.ts';
import { EventRecorders } from './event-recorders.ts';

/** Upstream: the defaults of --leader-elect-lease-duration, --leader-elect-renew-deadline and --leader-elect-retry-period. */
const timers = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };
const namespace = 'kube-system';
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } as const;
/** User of the events about leases. */
const controlPlane: UserInfo = { name: userNames.apiServer, groups: [groupNames.privileged] };

/** Injection token of the identity in elections. */
export const ElectionIdentity = Symbol('ElectionIdentity');

/** The elections of the server that runs the controllers, by leases. */
@Injectable()
export class Elections {
  constructor(
    @Inject(LoopbackClient) private readonly loopback: LoopbackClient,
    @Inject(ControllerClients) private readonly clients: ControllerClients,
    @Inject(EventRecorders) private readonly recorders: EventRecorders,
    @Inject(ElectionIdentity) private readonly identity: string,
    @Inject(Log) private readonly log: Log,
  ) {}

  readonly run: Election = async (name, signal, lead) => {
    const component = name === 'kube-scheduler' ? 'default-scheduler' : name;
    const recorder = this.recorders.create({ component, form: 'v1', client: this.clients.of(controlPlane, component) });
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
}

/**
 * Returns the identity in elections. An embedded store has one server at a time, which therefore keeps its identity: after a crash it need
 * not wait until its own lease expires.
 */
export function identityOf(storage: StorageConfig): string {
  const file = storage.backend === 'embedded' ? storage.file : undefined;
  const id = file === undefined ? randomUUID() : createHash('sha256').update(file).digest('hex').slice(0, 32);
  return `${hostname()}_${id}`;
}
