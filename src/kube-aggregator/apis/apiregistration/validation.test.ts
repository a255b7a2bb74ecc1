import { describe, expect, it } from 'vitest';
import type { APIService, APIServiceSpec } from '#kube-aggregator/schema/apiregistration_v1.gen';
import { apiServiceName, validateApiService, validateApiServiceStatus, validateApiServiceUpdate } from './validation.ts';

const local: APIServiceSpec = { group: 'a.io', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };
const service = { namespace: 'n', name: 's', port: 443 };
const errorsOf = (spec: APIServiceSpec, name = 'v1.a.io'): string[] =>
  validateApiService({ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name }, spec }).map(String);

describe('validateApiService', () => {
  it('rejects generateName, since the name must match the spec', () => {
    const object = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { generateName: 'x' }, spec: local };
    expect(apiServiceName(object)('x', true)).toEqual([expect.stringContaining('must be `spec.version+"."+spec.group`')]);
  });

  it.each<[string, APIServiceSpec, string[]]>([
    ['a local service', local, []],
    ['a remote service', { ...local, service, caBundle: 'YQ==' }, []],
    [
      'a group priority of zero',
      { ...local, groupPriorityMinimum: 0 },
      ['spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000'],
    ],
    [
      'a version priority out of range',
      { ...local, versionPriority: 1001 },
      ['spec.versionPriority: Invalid value: 1001: must be positive and less than 1000'],
    ],
    [
      'a local service with a CA bundle',
      { ...local, caBundle: 'YWI=' },
      ['spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle'],
    ],
    [
      'a local service with insecureSkipTLSVerify',
      { ...local, insecureSkipTLSVerify: true },
      ['spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify'],
    ],
    [
      'a service reference without names',
      { ...local, service: { port: 443 } },
      ['spec.service.namespace: Required value', 'spec.service.name: Required value'],
    ],
    [
      'a service reference with port 0',
      { ...local, service: { ...service, port: 0 } },
      ['spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive'],
    ],
    [
      'a CA bundle with insecureSkipTLSVerify',
      { ...local, service, caBundle: 'YQ==', insecureSkipTLSVerify: true },
      ['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors);
  });

  it('requires a name made of version and group', () => {
    const service: APIService = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'a' }, spec: local };
    const problem = 'must be `spec.version+"."+spec.group`: "v1.a.io"';
    expect(apiServiceName(service)('a', false)).toEqual([problem]);
    expect(apiServiceName(service)('v1.a.io', false)).toEqual([]);
    expect(apiServiceName(service)('..', false)).toEqual(["may not be '..'"]);
    expect(validateApiServiceUpdate(service).map(String)).toEqual([`metadata.name: Invalid value: "a": ${problem}`]);
    expect(errorsOf({ ...local, group: '' }, 'v1.')).toEqual([]);
    expect(errorsOf({ ...local, group: '', version: 'v2' }, 'v2.')).toEqual([
      'spec.group: Required value: only v1 may have an empty group and it better be legacy kube',
    ]);
  });
});

describe('validateApiServiceStatus', () => {
  it('accepts three statuses of conditions', () => {
    const statuses = ['True', 'Maybe', ''];
    const errors = validateApiServiceStatus({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: {},
      status: { conditions: statuses.map((status) => ({ type: 'Available', status })) },
    });
    expect(errors.map(({ field }) => field)).toEqual(['status.conditions[1].status', 'status.conditions[2].status']);
  });
});
