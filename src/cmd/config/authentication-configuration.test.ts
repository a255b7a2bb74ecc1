import { expect, it } from 'vitest';
import { parseAuthenticationConfiguration } from './authentication-configuration.ts';

const configuration = (egressSelectorType: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: 'https://issuer.example', audiences: ['a'], egressSelectorType },
        claimMappings: { username: { claim: 'sub', prefix: '' } },
      },
    ],
  });

it.each([
  { egress: 'cluster', hasEgressSelector: true, problem: undefined },
  { egress: 'other', hasEgressSelector: true, problem: 'egress selector must be either controlplane or cluster' },
  {
    egress: 'cluster',
    hasEgressSelector: false,
    problem: 'egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is disabled',
  },
  { egress: '', hasEgressSelector: false, problem: undefined },
])('the egress selector "$egress", with the gate $hasEgressSelector', ({ egress, hasEgressSelector, problem }) => {
  const parse = () => parseAuthenticationConfiguration(configuration(egress), [], { hasEgressSelector });
  if (problem === undefined) expect(parse().jwt[0]?.egressSelectorType).toBe(egress || undefined);
  else expect(parse).toThrow(`jwt[0].issuer.egressSelectorType: Invalid value: "${egress}": ${problem}`);
});
