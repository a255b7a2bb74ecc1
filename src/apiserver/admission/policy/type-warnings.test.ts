import { expect, it } from 'vitest';
import { atOnce } from '#apimachinery/runtime/steps';
import type { ValidatingPolicySpec } from './policy-types.ts';
import { typeWarnings } from './type-warnings.ts';

const foo = (type: string): object => ({ type: 'object', properties: { foo: { type } } });
const kindOf = (name: string, schema: object) => ({ kind: { group: 'apps', version: 'v1', kind: name }, schema });
const fooBar = { validations: [{ expression: "object.foo == 'bar'" }] };
const message = (text: string): ValidatingPolicySpec => ({ validations: [{ expression: 'true', messageExpression: text }] });

function warningsOf(spec: ValidatingPolicySpec, schema: object | undefined, params?: object): Record<string, string> {
  const kinds = schema ? [kindOf('Deployment', schema)] : [];
  const warnings = atOnce(typeWarnings(spec, { kinds, params }));
  return Object.fromEntries(warnings.map(({ fieldRef, warning }) => [fieldRef, warning]));
}

const first = 'spec.validations[0].expression';
it.each<{ name: string; spec: ValidatingPolicySpec; schema: object | undefined; expected: object; params?: object }>([
  { name: 'nothing without kinds', spec: fooBar, schema: undefined, expected: {} },
  { name: 'nothing if the types fit', spec: fooBar, schema: foo('string'), expected: {} },
  { name: 'an unknown field', spec: fooBar, schema: { type: 'object' }, expected: { [first]: /undefined field 'foo'/ } },
  {
    name: 'a wrong type',
    spec: fooBar,
    schema: foo('integer'),
    expected: { [first]: /no matching overload for '_==_'.*'\(int, string\)'/ },
  },
  { name: 'nothing about an object without a type', spec: fooBar, schema: { format: 'x' }, expected: {} },
  {
    name: 'a wrong type in a message',
    spec: message('object.foo + 1'),
    schema: foo('string'),
    expected: { 'spec.validations[0].messageExpression': /no matching overload for '_\+_'/ },
  },
  {
    name: 'an unknown field of the parameters',
    spec: { paramKind: { kind: 'P' }, validations: [{ expression: 'object.foo == params.bar' }] },
    schema: foo('string'),
    params: foo('string'),
    expected: { [first]: /undefined field 'bar'/ },
  },
  {
    name: 'nothing about parameters of an unknown kind',
    spec: { paramKind: { kind: 'P' }, validations: [{ expression: 'object.foo == params.bar' }] },
    schema: foo('string'),
    expected: {},
  },
  {
    name: 'parameters that the policy does not have',
    spec: { validations: [{ expression: 'params.a' }] },
    schema: {},
    expected: { [first]: /undeclared/ },
  },
  {
    name: 'the type of a variable',
    spec: { variables: [{ name: 'f', expression: 'object.foo' }], validations: [{ expression: 'variables.f > 1' }] },
    schema: foo('string'),
    expected: { [first]: /'\(string, int\)'/ },
  },
  {
    name: 'a field of the authorizer, which has none',
    spec: { validations: [{ expression: 'authorizer.requestResource' }] },
    schema: {},
    expected: { [first]: /unexpected failed resolution of 'kubernetes.authorization.Authorizer'/ },
  },
  {
    name: 'a misuse of the authorizer',
    spec: { validations: [{ expression: 'authorizer.allowed()' }] },
    schema: {},
    expected: { [first]: /'allowed'/ },
  },
  {
    name: 'no use of the authorizer',
    spec: { validations: [{ expression: "authorizer.group('').resource('a').check('get').allowed()" }] },
    schema: {},
    expected: {},
  },
  { name: 'no result that is not bool', spec: { validations: [{ expression: 'object.foo' }] }, schema: foo('string'), expected: {} },
])('warns about $name', ({ spec, schema, params, expected }) => {
  const warnings = warningsOf(spec, schema, params);
  expect(warnings).toEqual(
    Object.fromEntries(Object.entries(expected).map(([field, pattern]) => [field, expect.stringMatching(pattern as RegExp)])),
  );
});

it('lists the issues of each kind', () => {
  const kinds = [kindOf('A', { type: 'object' }), kindOf('B', foo('string')), kindOf('C', foo('integer'))];
  const [warning] = atOnce(typeWarnings(fooBar, { kinds, params: undefined }));
  expect(warning?.warning).toBe(`apps/v1, Kind=A: ERROR: <input>:1:7: undefined field 'foo'
 | object.foo == 'bar'
 | ......^

apps/v1, Kind=C: ERROR: <input>:1:12: found no matching overload for '_==_' applied to '(int, string)'
 | object.foo == 'bar'
 | ...........^
`);
});
