import { existsSync, globSync, readFileSync } from 'node:fs';
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

it('each built-in plugin has its own test file', () => {
  const folders = '{admission,audit,authentication,authorization,controllers,nodes,scheduler}';
  const files = globSync(`${folders}/**/*.ts`, { cwd: root });
  const plugins = files.filter((file) => !file.endsWith('.test.ts') && isPlugin.test(readFileSync(`${root}/${file}`, 'utf8')));
  expect(plugins.length).toBeGreaterThan(admissionPlugins.size);
  expect(plugins.filter((file) => !existsSync(`${root}/${file.replace(/\.ts$/, '.test.ts')}`))).toEqual([]);
});
