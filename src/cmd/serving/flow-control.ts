import type { Registry } from 'prom-client';
import type { FlowControl } from '#apiserver/endpoints/filters/priority-and-fairness';
import { FlowController } from '#apiserver/flowcontrol/flow-controller';
import { FlowMetrics } from '#apiserver/flowcontrol/flow-metrics';
import type { FlowSchema, PriorityLevelConfiguration } from '#apiserver/flowcontrol/rule';
import type { LiveRequest } from '#apiserver/flowcontrol/live-request';
import { Roster } from '#apiserver/request/roster';
import { WatchTracker } from '#apiserver/flowcontrol/watch-tracker';
import { type ObjectStats, WorkEstimator } from '#apiserver/flowcontrol/work-estimator';
import type { Informers } from '#apiserver/registry/informers';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { Cacher } from '#apiserver/storage/cacher/cacher';
import type { ServerConfig } from '#cmd/server-config';

const group = 'flowcontrol.apiserver.k8s.io';
/** Upstream: apiserver/pkg/util/flowcontrol/apf_controller.go (borrowingAdjustmentPeriod). */
const adjustmentMs = 10_000;

export interface RunningFlowControl {
  readonly control: FlowControl;
  /** Starts following flow schemas and priority levels; call it once they can be read. */
  follow(): void;
}
export const RunningFlowControl = Symbol('RunningFlowControl');

export interface FlowControlParts {
  readonly config: ServerConfig['requests'];
  readonly informers: Informers;
  readonly storage: StorageFactory;
  readonly registry: Registry;
  readonly shutdown: AbortSignal;
}

/** Creates priority and fairness that follows the server's own flow schemas and priority levels. */
export function newFlowControl({ config, informers, storage, registry, shutdown }: FlowControlParts): RunningFlowControl {
  const controller = new FlowController(config.maxInFlight + config.maxMutatingInFlight);
  const watches = new WatchTracker();
  const control = {
    controller,
    watches,
    estimator: new WorkEstimator(statsOf(storage), watches),
    metrics: new FlowMetrics(registry, controller),
    live: new Roster<LiveRequest>(),
  };
  return {
    control,
    follow() {
      const schemas = informers.for<FlowSchema>({ group, resource: 'flowschemas' });
      const levels = informers.for<PriorityLevelConfiguration>({ group, resource: 'prioritylevelconfigurations' });
      const configure = onceATurn(() => {
        // The caches are already closed if a change arrives during shutdown.
        if (!shutdown.aborted) controller.configure(schemas.list(), levels.list());
      });
      const subscriptions = [schemas.subscribe(configure), levels.subscribe(configure)];
      const timer = setInterval(() => controller.adjust(), adjustmentMs).unref();
      shutdown.addEventListener(
        'abort',
        () => {
          clearInterval(timer);
          for (const subscription of subscriptions) subscription[Symbol.dispose]();
        },
        { once: true },
      );
    },
  };
}

/** Coalesces the changes of one turn of the event loop into one call. */
function onceATurn(work: () => void): () => void {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    setImmediate(() => {
      pending = false;
      work();
    });
  };
}

/** Returns statistics of the caches by resource; each cache is looked up on first use. */
function statsOf(storage: StorageFactory): ObjectStats {
  const caches = new Map<string, Cacher>();
  return ({ group, resource }) => {
    const key = `${group}/${resource}`;
    let cache = caches.get(key);
    if (!cache) {
      for (const one of storage.resources) if (one.group === group && one.resource === resource) cache = one.cacher;
      if (!cache) return undefined;
      caches.set(key, cache);
    }
    return cache.stats();
  };
}
