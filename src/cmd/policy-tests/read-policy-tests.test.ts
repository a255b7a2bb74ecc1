import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPolicyTests } from './read-policy-tests.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-policy-tests-'));
  await writeFile(join(folder, 'maps.yaml'), `${configMap('a')}\n---\n${configMap('b')}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const configMap = (name: string): string => `{ apiVersion: v1, kind: ConfigMap, metadata: { name: ${name} }, data: { since: 2027-01-01 } }`;
const header = 'apiVersion: kubenest.dev/v1alpha1\nkind: PolicyTest\n';

/** Returns a file with one test, whose members follow its name. */
const withTest = (members: string): string => `${header}tests:\n  - name: one\n    ${members.replaceAll('\n', '\n    ')}\n`;

async function file(text: string, name = 'tests.yaml'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('a test file', () => {
  it('has objects in place and by reference, selected and merged, with dates as text', async () => {
    const path = await file(
      withTest(`object: { file: maps.yaml, name: b, merge: { data: { c: d } } }
existing: [{ file: maps.yaml }, ${configMap('e')}]
clock: 2027-03-31T00:00:00Z
expect: { verdict: admitted }`),
    );
    const [read] = await readPolicyTests([path]);
    expect(read).toMatchObject({ name: 'tests.yaml', existing: [], config: undefined });
    const [test] = read?.tests ?? [];
    expect(test).toMatchObject({ name: 'one', line: 4, operation: 'CREATE', clock: Date.UTC(2027, 2, 31), dryRun: true });
    expect(test?.object).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { since: '2027-01-01', c: 'd' } });
    expect(test?.existing.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'e']);
  });

  it('gives its user and clock to tests without their own', async () => {
    const user = 'user: { name: ali, groups: [cooks], extra: { team: [a] } }';
    const tests = ['one', 'two'].map((name) => `  - { name: ${name}, object: ${configMap('a')}, expect: { verdict: admitted } }`);
    const [read] = await readPolicyTests([
      await file(`${header}${user}\ntests:\n${tests.join('\n').replace(' }\n', ', user: { name: eve } }\n')}`),
    ]);
    expect(read?.tests.map((test) => test.user)).toEqual([
      { name: 'eve', groups: [], extra: {} },
      { name: 'ali', groups: ['cooks'], extra: { team: ['a'] } },
    ]);
  });

  it.each([
    { members: `object: ${configMap('a')}`, operation: 'CREATE' },
    { members: `object: ${configMap('a')}\noldObject: ${configMap('a')}`, operation: 'UPDATE' },
    { members: `operation: DELETE\noldObject: ${configMap('a')}`, operation: 'DELETE' },
  ])('means $operation by the objects that a test has', async ({ members, operation }) => {
    const [read] = await readPolicyTests([await file(withTest(`${members}\nexpect: { verdict: admitted }`))]);
    expect(read?.tests[0]).toMatchObject({ operation, object: { metadata: { name: 'a' } } });
  });

  const object = `object: ${configMap('a')}`;
  it.each([
    {
      name: 'an unknown member',
      text: withTest(`${object}\nexpect: { verdict: admitted }\nobjects: []`),
      says: ['7: tests[0].objects: Invalid value: []: unknown field'],
    },
    {
      name: 'an unknown expectation',
      text: withTest(`${object}\nexpect:\n  verdict: denied\n  messages: absent`),
      says: ['8: tests[0].expect.messages: Invalid value: "absent": unknown field'],
    },
    {
      name: 'an unknown member of the document',
      text: `${withTest(`${object}\nexpect: { verdict: admitted }`)}test: 1\n`,
      says: ['7: test: Invalid value: 1: unknown field'],
    },
    {
      name: 'another verdict',
      text: withTest(`${object}\nexpect: { verdict: allowed }`),
      says: [
        '6: tests[0].expect.verdict: Unsupported value: "allowed": supported values: "admitted", "denied", "failed", "forbidden", "invalid"',
      ],
    },
    { name: 'no expectation', text: withTest(object), says: ['4: tests[0].expect: Required value'] },
    { name: 'no verdict', text: withTest(`${object}\nexpect: { by: A }`), says: ['6: tests[0].expect.verdict: Required value'] },
    { name: 'no object', text: withTest('expect: { verdict: admitted }'), says: ['4: tests[0].object: Required value: CREATE needs it'] },
    {
      name: 'an old object of CREATE',
      text: withTest(`operation: CREATE\n${object}\noldObject: ${configMap('a')}\nexpect: { verdict: admitted }`),
      says: ['7: tests[0].oldObject: Invalid value: "": CREATE has no oldObject; objects that exist belong into existing'],
    },
    {
      name: 'an object without a kind',
      text: withTest('object: { metadata: {} }\nexpect: { verdict: admitted }'),
      says: ['5: tests[0].object: Invalid value: "": must be an object with apiVersion, kind and metadata, or name one by file'],
    },
    {
      name: 'a file of several objects',
      text: withTest('object: { file: maps.yaml }\nexpect: { verdict: admitted }'),
      says: ['5: tests[0].object: Invalid value: "2 objects": must be one object: select it with kind and name'],
    },
    {
      name: 'a reference without an object',
      text: withTest('object: { file: maps.yaml, name: z }\nexpect: { verdict: admitted }'),
      says: ['5: tests[0].object.file: Invalid value: "maps.yaml": has no such object'],
    },
    {
      name: 'a wrong time',
      text: withTest(`${object}\nclock: tomorrow\nexpect: { verdict: admitted }`),
      says: ['6: tests[0].clock: Invalid value: "tomorrow": must be a time such as 2027-03-31T00:00:00Z'],
    },
    {
      name: 'a wrong regular expression',
      text: withTest(`${object}\nexpect: { verdict: denied, message: "/(/" }`),
      says: [expect.stringMatching(/^6: tests\[0\]\.expect\.message: Invalid value: "\/\(\/": Invalid regular expression/)],
    },
    {
      name: 'a plugin that denies an admitted request',
      text: withTest(`${object}\nexpect: { verdict: admitted, by: A }`),
      says: ['6: tests[0].expect.by: Invalid value: "A": nothing denies the request if the verdict is admitted'],
    },
    {
      name: 'two tests of one name',
      text: `${withTest(`${object}\nexpect: { verdict: admitted }`)}  - name: one\n    ${object}\n    expect: { verdict: admitted }\n`,
      says: ['7: tests[1].name: Invalid value: "one": another test has this name'],
    },
    {
      name: 'empty texts, which would match everything',
      text: withTest(`${object}\nexpect:\n  verdict: denied\n  by: ''\n  message: ''\n  warnings: ['']`),
      says: [
        '8: tests[0].expect.by: Required value',
        '9: tests[0].expect.message: Required value',
        '10: tests[0].expect.warnings[0]: Required value',
      ],
    },
    {
      name: 'a merge that leaves no object',
      text: withTest('object: { file: maps.yaml, name: a, merge: { kind: null } }\nexpect: { verdict: admitted }'),
      says: ['5: tests[0].object.merge: Invalid value: "": must leave an object with apiVersion, kind and metadata'],
    },
    { name: 'no tests', text: header, says: ['1: tests: Required value'] },
    {
      name: 'a misspelt kind',
      text: header.replace('PolicyTest', 'PolicyTests'),
      says: ['1: must be of kind PolicyTest, apiVersion kubenest.dev/v1alpha1'],
    },
    { name: 'invalid YAML without an apiVersion', text: 'tests: [', says: [expect.stringMatching(/^1: Flow sequence/)] },
    { name: 'invalid YAML', text: `${header}tests: {`, says: [expect.stringMatching(/^3: Flow map/)] },
    {
      name: 'a patch operation without a value',
      text: withTest(`${object}\nexpect: { verdict: admitted, patch: { A: [{ op: add, path: /a }] } }`),
      says: ['6: tests[0].expect.patch.A[0].value: Required value'],
    },
  ])('is refused for $name', async ({ text, says }) => {
    const path = await file(text);
    const problems = await readPolicyTests([path]).then(
      () => [],
      (error: unknown) => (error as Error).message.split('\n'),
    );
    expect(problems.map((problem) => problem.slice(path.length + 1))).toEqual(says);
  });
});

describe('a folder', () => {
  it('may have other files', async () => {
    const own = join(folder, 'mixed');
    await mkdir(join(own, 'more'), { recursive: true });
    await file('a: {{ .Values.template }}', 'mixed/template.yaml');
    await file('apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration', 'mixed/kubenest.yaml');
    await file(withTest(`object: ${configMap('a')}\nexpect: { verdict: admitted }`), 'mixed/more/tests.yml');
    expect((await readPolicyTests([own])).map((read) => read.file)).toEqual([join(own, 'more/tests.yml')]);
  });

  it('without tests is refused', async () => {
    await mkdir(join(folder, 'empty'));
    await expect(readPolicyTests([join(folder, 'empty')])).rejects.toThrow(/empty: has no document of kind PolicyTest/);
  });
});
