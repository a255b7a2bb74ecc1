import { expect, test } from 'vitest';
import { parseTracingConfiguration } from './tracing-configuration.ts';

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n';

test.each([
  { name: 'nothing', text: '', want: { endpoint: 'localhost:4317', samplingRatePerMillion: 0 } },
  {
    name: 'all',
    text: 'endpoint: dns:///collector:4317\nsamplingRatePerMillion: 7',
    want: { endpoint: 'dns:///collector:4317', samplingRatePerMillion: 7 },
  },
  { name: 'a socket', text: 'endpoint: unix:///run/c.sock', want: { endpoint: 'unix:///run/c.sock', samplingRatePerMillion: 0 } },
])('$name', ({ text, want }) => {
  expect(parseTracingConfiguration(head + text)).toEqual(want);
});

test.each([
  { name: 'another kind', text: 'kind: Pod', problem: 'must be of kind TracingConfiguration' },
  { name: 'a rate below 0', text: `${head}samplingRatePerMillion: -1`, problem: 'sampling rate must be positive' },
  { name: 'a rate above a million', text: `${head}samplingRatePerMillion: 1000001`, problem: 'less than or equal to one million' },
  {
    name: 'http',
    text: `${head}endpoint: http://a:1`,
    problem: 'unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.',
  },
  { name: 'an unknown field', text: `${head}sampling: 1`, problem: 'unknown field' },
])('rejects $name', ({ text, problem }) => {
  expect(() => parseTracingConfiguration(text)).toThrow(problem);
});
