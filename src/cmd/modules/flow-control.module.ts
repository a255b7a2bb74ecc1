import { type DynamicModule, Module } from '@nestjs/common';
import { flowDumps } from '#apiserver/server/debugging/flow-dump';
import { Informers } from '#apiserver/registry/informers';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import type { GenericServer } from '#apiserver/server/generic-server';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import type { ServerConfig } from '#cmd/server-config';
import { newFlowControl, RunningFlowControl } from '#cmd/serving/flow-control';
import { Lifetime } from './lifetime.ts';
import { ServerPart } from './server-part.ts';

/** Serves the state of priority and fairness below /debug. */
@ServerPart()
class FlowDumps implements ServerPart {
  constructor(private readonly flowControl: RunningFlowControl | undefined) {}

  install({ mux }: GenericServer): void {
    if (!this.flowControl) return;
    for (const [name, serve] of flowDumps(this.flowControl.control)) mux.handle(`/debug/api_priority_and_fairness/${name}`, serve, false);
  }
}

/** Priority and fairness if it is enabled; otherwise the handler chain applies two limits of requests in flight. */
@Module({})
export class FlowControlModule {
  static register({ requests }: Pick<ServerConfig, 'requests'>): DynamicModule {
    return {
      module: FlowControlModule,
      providers: [
        {
          provide: RunningFlowControl,
          useFactory: (informers: Informers, storage: StorageFactory, registry: LimitedRegistry, { shutdown }: Lifetime) =>
            requests.priorityAndFairness ? newFlowControl({ config: requests, informers, storage, registry, shutdown }) : undefined,
          inject: [Informers, StorageFactory, LimitedRegistry, Lifetime],
        },
        {
          provide: FlowDumps,
          useFactory: (flowControl?: RunningFlowControl) => new FlowDumps(flowControl),
          inject: [{ token: RunningFlowControl, optional: true }],
        },
      ],
      exports: [RunningFlowControl],
    };
  }
}
