import { expect, it } from 'vitest';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import { RequestAdmission } from '#apiserver/admission/request-admission';
import { guardAdmission, type PluginGuard } from '#apiserver/plugins/guard-admission';
import { fakeServices } from '#sdk/testing/index';

const rounds = 5;
const creations = 5_000;
/** Limit in microseconds that an empty plugin of a package may add to a request. */
const most = 20;

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

/** Returns the microseconds of a request in the fastest round. */
async function costOf(chain: AdmissionChain): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    for (let i = 0; i < creations; i += 1) {
      const admission = new RequestAdmission(chain, context as never, target as never);
      const admitted = admission.admit(call);
      if (admitted) await admitted;
      const validated = admission.validate(call);
      if (validated) await validated;
    }
    times.push(((performance.now() - began) * 1_000) / creations);
  }
  return Math.min(...times);
}

it.each<{ name: string; plugin: object; failurePolicy: PluginGuard['failurePolicy'] }>([
  { name: 'synchronous', plugin: new AtOnce(), failurePolicy: 'Fail' },
  { name: 'later', plugin: new Later(), failurePolicy: 'Fail' },
  { name: 'synchronous, on a copy', plugin: new AtOnce(), failurePolicy: 'Ignore' },
  { name: 'asynchronous, on a copy', plugin: new Later(), failurePolicy: 'Ignore' },
])(`an empty plugin of a package, $name, costs less than ${most} µs`, async ({ plugin, failurePolicy }) => {
  const guarded = guardAdmission(plugin, { timeoutMs: 10_000, failurePolicy }, fakeServices());
  const without = await costOf(new AdmissionChain([]));
  expect((await costOf(new AdmissionChain([guarded]))) - without).toBeLessThan(most);
});
