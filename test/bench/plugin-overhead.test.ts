import { expect, it } from 'vitest';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { Attributes } from '#apiserver/admission/attributes';
import { RequestAdmission } from '#apiserver/admission/request-admission';
import { defaultGuard, guardAdmission } from '#apiserver/plugins/guard-admission';
import { PluginFailures } from '#apiserver/plugins/plugin-failures';
import { fakeServices } from '#sdk/testing/index';
import { costOfCalls, leastCosts } from './least-costs.ts';

const creations = 10_000;
const phases = 2;
/** Limit in microseconds that an empty plugin of a package may add to a phase of a request. */
const most = 5;

const context = { authenticatedUser: { name: 'admin', groups: ['system:masters'] }, deadline: 0, warn() {} };
const gvk = { group: '', version: 'v1', kind: 'Pod' };
const target = { kind: gvk, resource: { group: '', version: 'v1', resource: 'pods' }, subresource: '', forms: { equivalents: [] } };
const object = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'x', namespace: 'default' },
  spec: { containers: [{ name: 'a', image: 'b', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] },
};
const call = { operation: 'CREATE', namespace: 'default', name: 'x', object, oldObject: undefined, options: {}, dryRun: false } as const;

const options = { name: 'Nothing', match: [{ resources: ['pods'], operations: ['CREATE'] }] } as const;
@AdmissionPlugin(options)
class AtOnce {
  admit(): void {}
  validate(): void {}
}
@AdmissionPlugin(options)
class Later {
  async admit(): Promise<void> {}
  async validate(): Promise<void> {}
}

/** Reads the object, which the boundary copies and compares. */
@AdmissionPlugin(options)
class Reading {
  admit({ object }: Attributes): void {
    void object.metadata.labels;
  }
  validate({ object }: Attributes): void {
    void object.metadata.labels;
  }
}

/** Returns the microseconds of a request. */
function costOf(chain: AdmissionChain): Promise<number> {
  return costOfCalls(creations, async () => {
    const admission = new RequestAdmission(chain, context as never, target as never);
    const admitted = admission.admit(call);
    if (admitted) await admitted;
    const validated = admission.validate(call);
    if (validated) await validated;
  });
}

it.each<{ name: string; plugin: object }>([
  { name: 'synchronous', plugin: new AtOnce() },
  { name: 'asynchronous', plugin: new Later() },
  { name: 'that reads the object', plugin: new Reading() },
])(`an empty plugin of a package, $name, costs less than ${most} µs in each phase`, async ({ plugin }) => {
  const { logger, metrics } = fakeServices();
  const guarded = guardAdmission(plugin, defaultGuard, new PluginFailures(logger, metrics), { origin: { package: '@acme/nothing' } });
  const [empty, own] = [new AdmissionChain([]), new AdmissionChain([guarded])];
  const costOfPhase = (least: { without: number; own: number }): number => (least.own - least.without) / phases;
  const measurements = { without: () => costOf(empty), own: () => costOf(own) };
  expect(costOfPhase(await leastCosts(measurements, (least) => costOfPhase(least) < most))).toBeLessThan(most);
});
