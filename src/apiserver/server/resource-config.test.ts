import { describe, expect, it } from 'vitest';
import { ResourceConfig, resourceConfigErrors } from './resource-config.ts';

const known = {
  hasGroup: (group: string) => ['', 'apps', 'resource.k8s.io'].includes(group),
  hasVersion: ({ version }: { version: string }) => ['v1', 'v1beta1', 'v1alpha3'].includes(version),
};
const overridesOf = (text: string) => new Map(text === '' ? [] : text.split(',').map((pair) => pair.split('=', 2) as [string, string]));

describe('enabled resources', () => {
  it.each([
    ['', 'resource.k8s.io/v1/deviceclasses', true],
    ['', 'resource.k8s.io/v1beta1/deviceclasses', false],
    ['resource.k8s.io/v1beta1=', 'resource.k8s.io/v1beta1/deviceclasses', true],
    ['api/all=true', 'resource.k8s.io/v1alpha3/devicetaintrules', true],
    ['api/all=true,api/alpha=false', 'resource.k8s.io/v1alpha3/devicetaintrules', false],
    ['api/beta=true', 'resource.k8s.io/v1beta1/deviceclasses', true],
    ['api/beta=true', 'resource.k8s.io/v1alpha3/devicetaintrules', false],
    ['api/ga=false', 'apps/v1/deployments', false],
    ['api/ga=false,apps/v1=true', 'apps/v1/deployments', true],
    ['apps/v1=false', 'apps/v1/deployments', false],
    ['apps/v1=false,apps/v1/deployments=true', 'apps/v1/deployments', true],
    ['apps/v1=false,apps/v1/deployments=true', 'apps/v1/daemonsets', false],
    ['apps/v1/deployments=0', 'apps/v1/deployments', false],
    ['/v1/pods=false', '/v1/pods', false],
    ['/v1/pods=false', '/v1/secrets', true],
  ])('%j: %s %s', (overrides, path, want) => {
    const [group = '', version = '', resource = ''] = path.split('/');
    expect(new ResourceConfig(overridesOf(overrides)).isEnabled({ group, version, resource })).toBe(want);
  });
});

describe('errors of overrides', () => {
  it.each([
    ['api/all=false', ['invalid runtime-config with only api/all=false']],
    ['v1=true', ['runtime-config invalid key v1']],
    ['b.io/v1=true,a.io/v1=true,a.io/v1/x=true', ['unknown api groups a.io/v1,b.io/v1']],
    ['apps/v2=true', ['group version apps/v2 that has not been registered']],
    ['api/all=yes', ['invalid value api/all=yes']],
    ['api/beta=', ['invalid value api/beta=']],
    ['apps/v1=yes', ['invalid value of apps/v1: yes, err: strconv.ParseBool: parsing "yes": invalid syntax']],
    [
      'apps/v1/Deployments=true',
      ['invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not "Deployments"'],
    ],
    ['api/all=false,apps/v1=true,/v1=true', []],
  ])('%s', (overrides, want) => {
    expect(resourceConfigErrors(overridesOf(overrides), known)).toEqual(want);
  });
});
