import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import { admissionPlugins } from './builtin-plugins.ts';
import { readTable } from './options/tables.ts';

const upstream = readTable<{ order: string[]; onByDefault: string[]; removedUpstream: string[] }>('admission');
const removed = new Set(upstream.removedUpstream);
const names = [...admissionPlugins.keys()];

describe('the list of built-in admission plugins', () => {
  it("is in upstream's order", () => {
    const ours = names.filter((name) => !removed.has(name));
    expect(ours).toEqual(upstream.order.filter((name) => admissionPlugins.has(name)));
  });

  it('contains every plugin of upstream, including removed ones', () => {
    const all = [...upstream.order, ...upstream.removedUpstream];
    expect(names.toSorted()).toEqual([...all].sort());
  });

  it.each(names)('%s is the name that the class declares', (name) => {
    expect(admissionPluginOptions(admissionPlugins.get(name)!).name).toBe(name);
  });
});

const root = fileURLToPath(new URL('../../plugins', import.meta.url));
/** Marks the classes that are plugins: a decorator, or the contract of an authenticator or authorizer. */
const isPlugin =
  /^(?:@(?:AdmissionPlugin|AuditBackendPlugin|Controller)\(|export class \w+ (?:extends AuthenticationStrategy|implements (?:TokenAuthenticator|Authorizer)))/m;

it('each built-in plugin has its own test file, which names its class, or the controller that a cluster starts', () => {
  const folders = '{admission,audit,authentication,authorization,controllers,nodes,scheduler}';
  const files = globSync(`${folders}/**/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const plugins = files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    if (!isPlugin.test(text)) return [];
    const test = `${root}/${file.replace(/\.ts$/, '.test.ts')}`;
    return { file, text, test: existsSync(test) ? readFileSync(test, 'utf8') : '' };
  });
  expect(plugins.length).toBeGreaterThan(admissionPlugins.size);
  const classesOf = (text: string): string[] => [...text.matchAll(/^export class (\w+)/gm)].map(([, name = '']) => name);
  expect(
    plugins
      .filter(({ file, text, test }) => ![...classesOf(text), basename(file, '.ts')].some((name) => test.includes(name)))
      .map(({ file }) => file),
  ).toEqual([]);
  const tests = plugins.map(({ test }) => test).join('\n');
  const classes = [...admissionPlugins.values()].map(({ name }) => name);
  expect(classes.filter((name) => !new RegExp(`(admissionTable\\(\\s*|new )${name}\\b|${name}\\.prototype`).test(tests))).toEqual([]);
});
