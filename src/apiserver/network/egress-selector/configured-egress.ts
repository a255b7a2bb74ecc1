import type { Duplex } from 'node:stream';
import type { CounterMetric, HistogramMetric, Metrics } from '#apiserver/base/metrics/metrics';
import type { Endpoint } from '#apiserver/network/endpoint';
import { addressOf, type Dial, type EgressSelector, type EgressType } from './egress-selector.ts';
import { connectToProxy, type HttpProxy, tunnelThrough } from './http-connect.ts';

/** An egress route of a configuration. */
export type EgressRoute =
  | { readonly protocol: 'Direct' }
  | { readonly protocol: 'HTTPConnect'; readonly proxy: HttpProxy }
  | { readonly protocol: 'GRPC'; readonly udsName: string };

type Proxied = Exclude<EgressRoute, { readonly protocol: 'Direct' }>;

/**
 * Egress through proxies. Destinations without a configured route are dialed directly. Upstream:
 * apiserver/pkg/server/egressselector.
 */
export class ConfiguredEgress implements EgressSelector {
  readonly #dials: ReadonlyMap<EgressType, Dial>;

  constructor(routes: ReadonlyMap<EgressType, EgressRoute>, metrics: Metrics) {
    const measured = new DialMetrics(metrics);
    this.#dials = new Map(
      [...routes].flatMap(([type, route]) => (route.protocol === 'Direct' ? [] : [[type, dialerOf(route, measured)] as const])),
    );
  }

  dial(type: EgressType): Dial | undefined {
    return this.#dials.get(type);
  }
}

/** Returns a dialer that connects to the proxy and through it to the endpoint; metrics distinguish failures of the two stages. */
function dialerOf(route: Proxied, metrics: DialMetrics): Dial {
  const labels = {
    protocol: route.protocol === 'GRPC' ? 'grpc' : 'http_connect',
    transport: route.protocol === 'GRPC' || 'udsName' in route.proxy ? 'uds' : 'tcp',
  };
  return async (endpoint, signal) => {
    const begin = metrics.started(labels);
    const proxied = await connected(route, signal).catch((error: unknown) => metrics.failed(labels, 'connect', error));
    const connection = await proxied(endpoint).catch((error: unknown) => metrics.failed(labels, 'proxy', error));
    metrics.succeeded(labels, begin);
    return connection;
  };
}

async function connected(route: Proxied, signal: AbortSignal | undefined): Promise<(endpoint: Endpoint) => Promise<Duplex>> {
  if (route.protocol === 'GRPC') {
    const { connectToService, dialThrough } = await import('./konnectivity.ts');
    const tunnel = await connectToService(route.udsName, signal);
    return (endpoint) => dialThrough(tunnel, endpoint, signal);
  }
  const { proxy } = route;
  const socket = await connectToProxy(proxy, signal);
  const proxyAddress = 'udsName' in proxy ? proxy.udsName : addressOf(proxy.endpoint);
  return (endpoint) => tunnelThrough(socket, proxyAddress, endpoint, signal);
}

interface DialLabels {
  readonly protocol: string;
  readonly transport: string;
}

/** Metrics of dials through proxies. Upstream: apiserver/pkg/server/egressselector/metrics. */
class DialMetrics {
  readonly #starts: CounterMetric;
  readonly #failures: CounterMetric;
  readonly #latencies: HistogramMetric;

  constructor(metrics: Metrics) {
    const labels = ['protocol', 'transport'];
    this.#starts = metrics.counter({
      name: 'apiserver_egress_dialer_dial_start_total',
      help: 'Dial starts, labeled by the protocol (http-connect or grpc) and transport (tcp or uds).',
      labels,
    });
    this.#failures = metrics.counter({
      name: 'apiserver_egress_dialer_dial_failure_count',
      help: 'Dial failure count, labeled by the protocol (http-connect or grpc), transport (tcp or uds), and stage (connect or proxy). The stage indicates at which stage the dial failed',
      labels: [...labels, 'stage'],
    });
    this.#latencies = metrics.histogram({
      name: 'apiserver_egress_dialer_dial_duration_seconds',
      help: 'Dial latency histogram in seconds, labeled by the protocol (http-connect or grpc), transport (tcp or uds)',
      labels,
      buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 12.5],
    });
  }

  started(labels: DialLabels): number {
    this.#starts.inc({ ...labels });
    return performance.now();
  }

  succeeded(labels: DialLabels, begin: number): void {
    this.#latencies.observe({ ...labels }, (performance.now() - begin) / 1_000);
  }

  failed(labels: DialLabels, stage: 'connect' | 'proxy', error: unknown): never {
    this.#failures.inc({ ...labels, stage });
    throw error;
  }
}
