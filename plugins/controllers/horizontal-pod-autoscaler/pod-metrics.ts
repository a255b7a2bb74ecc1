import { type ControllerClient, type KubeObject, parseTime, Quantity } from 'kubenest/sdk';

/** Usage of one pod, in thousandths of the resource's unit. */
export interface PodUsage {
  readonly milli: number;
  /** End of the time over which it was measured, and its length, in milliseconds. */
  readonly atMs: number;
  readonly windowMs: number;
}

/** Upstream: k8s.io/metrics/pkg/apis/metrics/v1beta1 PodMetrics. */
interface PodMetrics extends KubeObject {
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[];
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads a duration of Go (`1m30s`); other units than ms, s, m and h count as nothing. */
function durationMs(text = ''): number {
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)?/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (unitMs[unit ?? ''] ?? 0),
    0,
  );
}

/** Returns the usage of a pod, or of one of its containers; undefined if it was not measured. */
export function usageOf({ timestamp, window, containers = [] }: PodMetrics, resource: string, container: string): PodUsage | undefined {
  const measured = containers.filter(({ name }) => container === '' || name === container).map(({ usage }) => usage?.[resource]);
  if (measured.length === 0 || measured.includes(undefined)) return undefined;
  const milli = measured.reduce((sum, text) => sum + Number(Quantity.parse(text as string).milliValue()), 0);
  return { milli, atMs: timestamp ? parseTime(timestamp) : 0, windowMs: durationMs(window) };
}

/** Returns the usages of the pods that match, by name, from metrics.k8s.io. Upstream: metrics/client.go of pkg/controller/podautoscaler. */
export async function podUsages(
  client: ControllerClient,
  namespace: string,
  selector: string,
  resource: string,
  container: string,
): Promise<Map<string, PodUsage>> {
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
  let items: readonly PodMetrics[];
  try {
    ({ items } = await client.read<{ readonly items: readonly PodMetrics[] }>(path));
  } catch (error) {
    throw new Error(`unable to fetch metrics from resource metrics API: ${(error as Error).message}`, { cause: error });
  }
  if (items.length === 0) throw new Error('no metrics returned from resource metrics API');
  return new Map(
    items.flatMap((metrics) => {
      const usage = usageOf(metrics, resource, container);
      return usage ? [[metrics.metadata.name as string, usage] as const] : [];
    }),
  );
}
