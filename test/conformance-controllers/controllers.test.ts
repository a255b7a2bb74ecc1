import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import type { Node } from 'kubenest/types/core_v1';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { knownDifferences } from './known-differences.ts';
import type { Outcome } from './normalise.ts';
import { readOutcomes } from './outcomes.ts';
import { Player, type Send } from './play.ts';
import { bySettings, readScenarios, type Scenario, type Settings } from './scenario.ts';

const site = { node: 'node-1', poll: 25, patience: 120_000 };
/** Time in which an outcome that equals the recorded one must remain so. */
const stableMs = 300;
/** Time in which an outcome becomes the recorded one. Some controllers back off for ten seconds, and the machine may do much else. */
const convergeMs = 120_000;
/** Scenarios with a known difference get less time for each wait, and to become equal. */
const knownMs = 2_000;
const allScenarios = readScenarios();
const known = new Map<string, string>(Object.entries(knownDifferences));

let cluster: TestCluster;
async function start({ featureGates, runtimeConfig, clusterCidr = '10.244.0.0/16', withoutController }: Settings): Promise<void> {
  const flags = [
    '--enable-admission-plugins=ServiceAccount',
    '--allocate-node-cidrs=true',
    `--cluster-cidr=${clusterCidr}`,
    ...(featureGates === undefined ? [] : [`--feature-gates=${featureGates}`]),
    ...(runtimeConfig === undefined ? [] : [`--runtime-config=${runtimeConfig}`]),
  ];
  const others = withoutController === undefined ? [] : [`-${withoutController}`];
  const controllers = ['*', 'bootstrap-signer-controller', 'token-cleaner-controller', ...others];
  cluster = await startTestCluster({ controllers, nodes: 3, listen: true, flags });
  await vi.waitFor(expectUsableNodes, { timeout: 120_000, interval: 50 });
}

const send: Send = async (path, { method = 'GET', body, contentType = 'application/json' } = {}) => {
  const response = await cluster.fetch(path, { method, headers: { 'content-type': contentType }, ...(body && { body }) });
  return { status: response.status, body: await response.json() };
};

/** As in the recorded cluster, the scenarios begin when pods can be placed on all nodes. */
async function expectUsableNodes(): Promise<void> {
  const { items } = (await send('/api/v1/nodes')).body as { items: Node[] };
  expect(items.map(({ spec }) => spec?.taints)).toEqual([undefined, undefined, undefined]);
}

async function play(scenario: Scenario): Promise<void> {
  const recorded = readOutcomes(scenario.area)[scenario.name];
  expect(recorded, 'record.ts has not recorded this scenario').toBeDefined();
  const isKnown = known.has(scenario.name);
  const player = new Player(send, scenario, isKnown ? { ...site, patience: knownMs } : site);
  let failure: Error | undefined;
  let outcome: Outcome | undefined;
  try {
    await player.run();
    outcome = await converge(player, recorded as Outcome, isKnown ? knownMs : convergeMs);
  } catch (error) {
    failure = error as Error;
  }
  if (scenario.alone) await player.clear();
  if (isKnown) expect(outcome, 'no longer a known difference').not.toEqual(recorded);
  else if (failure !== undefined) throw failure;
  else expect(outcome).toEqual(recorded);
}

/** Returns the outcome when it has been the expected one for `stableMs`, else the last one after `ms`. */
async function converge(player: Player, expected: Outcome, ms: number): Promise<Outcome> {
  const end = Date.now() + ms;
  for (;;) {
    const outcome = await player.outcome();
    const isEqual = isDeepStrictEqual(outcome, expected);
    await sleep(isEqual ? stableMs : 100);
    const next = await player.outcome();
    if (Date.now() > end || (isEqual && isDeepStrictEqual(next, expected))) return next;
  }
}

// Most of a scenario is waiting.
vi.setConfig({ maxConcurrency: 16 });
const timeout = 300_000;
const title = ({ name }: Scenario): string => (known.has(name) ? `${name} (known difference)` : name);
for (const { settings, scenarios } of bySettings(allScenarios))
  describe(Object.values(settings).join(' ') || 'default settings', () => {
    beforeAll(() => start(settings), timeout);
    afterAll(() => cluster[Symbol.asyncDispose]());
    for (const scenario of scenarios.filter(({ alone }) => !alone)) it.concurrent(title(scenario), { timeout }, () => play(scenario));
    for (const scenario of scenarios.filter(({ alone }) => alone)) it(title(scenario), { timeout }, () => play(scenario));
  });

it('has a scenario for each known difference', () => {
  const names = allScenarios.map(({ name }) => name);
  expect([...known.keys()].filter((name) => !names.includes(name))).toEqual([]);
});
