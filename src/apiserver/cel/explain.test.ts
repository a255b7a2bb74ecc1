import { expect, it } from 'vitest';
import { admissionEnvironment } from '#apiserver/admission/cel/environment';
import { activationOf } from './environment.ts';
import { explainExpression } from './explain.ts';
import { fromJson } from './json-values.ts';
import { parse } from './syntax/parser.ts';
import { Source } from './syntax/source.ts';
import { unparse } from './syntax/unparse.ts';

const object = {
  metadata: { labels: { team: 'a' } },
  spec: {
    replicas: 7,
    containers: [
      { name: 'a', image: 'a:latest' },
      { name: 'b', image: 'b:1' },
    ],
  },
};
const environment = admissionEnvironment({ params: false, authorizer: false }, 'stored');

it.each([
  { expression: 'object.spec.replicas <= 5', parts: { 'object.spec.replicas <= 5': false, 'object.spec.replicas': 7 } },
  {
    expression: "object.spec.replicas > 5 && object.metadata.labels.team == 'b'",
    parts: { 'object.metadata.labels.team == "b"': false, 'object.metadata.labels.team': 'a' },
  },
  {
    expression: '!(object.spec.replicas > 5 || has(object.spec.paused))',
    parts: { 'object.spec.replicas > 5': true, 'object.spec.replicas': 7 },
  },
  {
    expression: 'has(object.spec.paused) || object.spec.replicas in [1, 2]',
    parts: { 'has(object.spec.paused)': false, 'object.spec.replicas in [1, 2]': false, 'object.spec.replicas': 7 },
  },
  {
    expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
    parts: {
      'object.spec.containers.all(c, !c.image.endsWith(":latest"))': false,
      'object.spec.containers.filter(c, !(!c.image.endsWith(":latest")))': [{ name: 'a', image: 'a:latest' }],
    },
  },
  {
    expression: "object.spec.containers.exists(c, c.name == 'x')",
    parts: { 'object.spec.containers.exists(c, c.name == "x")': false, 'object.spec.containers': object.spec.containers },
  },
  {
    expression: 'object.spec.replicas > 5 ? object.spec.paused : true',
    parts: { 'object.spec.replicas > 5': true, 'object.spec.replicas': 7, 'object.spec.paused': 'error: no such key: paused' },
  },
])('$expression', ({ expression, parts }) => {
  const found = explainExpression(environment, expression, activationOf({ object: fromJson(object) }));
  expect(Object.fromEntries(found.map((part) => [part.expression, part.value]))).toEqual(parts);
});

it.each([
  '(a + b) * c - -d',
  'a ? b : c ? d : e',
  '(a ? b : c) ? d : e',
  'x.all(y, y > 1u && y.z != 1.0) || !(p in q)',
  'm[?"k"].?v.orValue({"a": [1, ?n]})',
  'T{a: b"\\x00\\xff", b: null}.f(1, "two\\n")',
  'a - (b - c)',
])('%s is printed as it was parsed', (text) => {
  const read = (source: string): string => unparse(parse(new Source(source), { macros: [], optionalSyntax: true }).ast!.expr);
  expect(read(text)).toBe(text);
});
