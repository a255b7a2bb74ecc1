import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { AdmissionPlugin, admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { Attributes } from '#apiserver/admission/attributes';
import type { ObjectForms } from '#apiserver/admission/object-forms';
import { forbidden } from '#apiserver/admission/forbidden';
import { fakeServices } from '#sdk/testing/fake-services';
import { defaultGuard, guardAdmission, type PluginGuard } from './guard-admission.ts';
import { PluginFailures } from './plugin-failures.ts';

type Labelled = { metadata: { labels?: Record<string, string> } };

@AdmissionPlugin({ name: 'Unsteady', match: [{ resources: ['*'], operations: ['CREATE'] }] })
class Unsteady {
  constructor(readonly behave: (request: Attributes) => void | Promise<void>) {}

  admit(request: Attributes): void | Promise<void> {
    (request.object as Labelled).metadata.labels = { touched: 'yes' };
    return this.behave(request);
  }
}

const forms = { revise: (object: KubeObject) => object } as ObjectForms;

/** Resolves to the labels of the object or to the message of the denial. */
async function admit(behave: (request: Attributes) => void | Promise<void>, guard: PluginGuard): Promise<unknown> {
  const { logger, metrics } = fakeServices();
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } as KubeObject;
  const request = {
    object,
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'a',
    operation: 'CREATE',
    forms,
  } as Attributes;
  const plugin = guardAdmission(new Unsteady(behave), guard, new PluginFailures(logger, metrics), {
    origin: { package: '@acme/unsteady' },
  });
  expect(admissionPluginOptions(plugin).name).toBe('Unsteady');
  expect('validate' in plugin && plugin.validate).toBeFalsy();
  try {
    await plugin.admit?.(request);
  } catch (error) {
    expect(error).toBeInstanceOf(StatusError);
    return (error as StatusError).status.message;
  }
  return object.metadata.labels;
}

const fails = (): never => {
  throw new TypeError('undefined is not a function');
};
const hangs = (): Promise<void> => new Promise(() => {});
const denies = (request: Attributes): never => {
  throw forbidden(request, 'no');
};
const touched = { touched: 'yes' };
const failed = 'Internal error occurred: admission plugin "Unsteady" of package @acme/unsteady failed';
const late = 'Internal error occurred: admission plugin "Unsteady" of package @acme/unsteady gave no answer within 20 ms';

it.each<{ name: string; behave: (request: Attributes) => void | Promise<void>; fail: unknown; ignore: unknown }>([
  { name: 'admits', behave: () => {}, fail: touched, ignore: touched },
  { name: 'admits asynchronously', behave: async () => {}, fail: touched, ignore: touched },
  { name: 'denies', behave: denies, fail: 'configmaps "a" is forbidden: no', ignore: 'configmaps "a" is forbidden: no' },
  {
    name: 'denies asynchronously',
    behave: async (request) => denies(request),
    fail: 'configmaps "a" is forbidden: no',
    ignore: 'configmaps "a" is forbidden: no',
  },
  { name: 'throws', behave: fails, fail: failed, ignore: undefined },
  { name: 'rejects', behave: async () => fails(), fail: failed, ignore: undefined },
  { name: 'hangs', behave: hangs, fail: late, ignore: undefined },
])('a plugin that $name', async ({ behave, fail, ignore }) => {
  expect(await admit(behave, { ...defaultGuard, timeoutMs: 20, failurePolicy: 'Fail' })).toEqual(fail);
  expect(await admit(behave, { ...defaultGuard, timeoutMs: 20, failurePolicy: 'Ignore' })).toEqual(ignore);
});

@AdmissionPlugin({ name: 'Judge', match: [{ resources: ['*'], operations: ['UPDATE'] }] })
class Judge {
  constructor(readonly validate: (request: Attributes) => void | Promise<void>) {}
}

describe('in validate', () => {
  const newRequest = (): Attributes => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { a: '1' } } };
    return { object, oldObject: structuredClone(object), resource: {}, name: 'a', operation: 'UPDATE', forms } as unknown as Attributes;
  };
  const judge = (validate: (request: Attributes) => void | Promise<void>) => {
    const { logger, metrics } = fakeServices();
    return guardAdmission(new Judge(validate), defaultGuard, new PluginFailures(logger, metrics));
  };

  it('all plugins of a request read one frozen copy of its objects', () => {
    const seen: Attributes[] = [];
    const request = newRequest();
    const plugin = judge((given) => void seen.push(given));
    for (let i = 0; i < 2; i += 1) expect(plugin.validate?.(request)).toBeUndefined();
    expect(seen[0]?.object).toBe(seen[1]?.object);
    expect(seen[0]?.oldObject).toBe(seen[1]?.oldObject);
    expect(seen[0]?.object).not.toBe(request.object);
    expect(Object.isFrozen(seen[0]?.object.metadata.labels)).toBe(true);
    expect(Object.isFrozen(request.object)).toBe(false);
  });

  it.each([
    { name: 'a synchronous plugin', isLater: false },
    { name: 'an asynchronous plugin', isLater: true },
  ])('$name may change its copy of the old object', async ({ isLater }) => {
    const request = newRequest();
    let calls = 0;
    const plugin = judge((given) => {
      calls += 1;
      const work = (): void => {
        delete given.oldObject?.metadata.labels;
      };
      return isLater ? Promise.resolve().then(work) : work();
    });
    await plugin.validate?.(request);
    expect(calls).toBe(2);
    expect(request.oldObject?.metadata.labels).toEqual({ a: '1' });
  });

  it('a change of the object is a failure that names its path', () => {
    const plugin = judge(({ object }) => {
      object.metadata.labels = {};
    });
    expect(() => plugin.validate?.(newRequest())).toThrow(/changed \/metadata\/labels\/a in `validate`/);
  });

  it('a TypeError of the plugin itself is a failure', () => {
    const plugin = judge((given) => {
      void given.object;
      fails();
    });
    expect(() => plugin.validate?.(newRequest())).toThrow(/failed$/);
  });
});
