import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import type { TestCluster } from '#testing/index';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';
import { quantileOf } from '../../servers/quantiles.ts';

export const maps = '/api/v1/namespaces/default/configmaps';
export const secrets = '/api/v1/namespaces/default/secrets';

/** A client of its own, which reads and writes while plugins are wrong. */
export class OtherClient {
  readonly #wall: number[] = [];
  readonly #cpu: number[] = [];
  #isOver = false;
  #ended: Promise<void> | undefined;

  constructor(private readonly cluster: TestCluster) {}

  begin(): void {
    this.#isOver = false;
    this.#wall.length = 0;
    this.#cpu.length = 0;
    this.#ended = this.#run();
  }

  /** Fails if a request failed, or if the 99th percentile of the latencies is too high. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
    // The CPU time of the thread, because other processes may use the cores; the wall time shows waiting.
    expect(quantileOf(0.99, this.#cpu)).toBeLessThan(100);
    expect(quantileOf(0.5, this.#wall)).toBeLessThan(100);
  }

  async #run(): Promise<void> {
    for (let i = 0; !this.#isOver || i < 8; i += 1) {
      const [wall, cpu] = [performance.now(), threadMilliseconds()];
      const isWrite = i % 10 === 0;
      const path = isWrite ? `${secrets.replace('default', 'kube-public')}?dryRun=All` : `${maps}/present`;
      const { status } = await this.cluster.fetch(path, isWrite ? { body: { metadata: { name: 'a' } } } : {});
      expect(status).toBe(isWrite ? 201 : 200);
      this.#wall.push(performance.now() - wall);
      this.#cpu.push(threadMilliseconds() - cpu);
      await sleep(1);
    }
  }
}

/** Sum of the failures that the metrics attribute to a package. */
export async function failures(cluster: TestCluster, name: string, reason?: string): Promise<number> {
  const metric = cluster.app.nest.get(LimitedRegistry, { strict: false }).getSingleMetric('kubenest_plugin_failures_total');
  const { values = [] } = (await metric?.get()) ?? {};
  const counted = values.filter(
    ({ labels }) => labels['package'] === `@acme/${name}` && (reason === undefined || labels['reason'] === reason),
  );
  return counted.reduce((sum, { value }) => sum + value, 0);
}
