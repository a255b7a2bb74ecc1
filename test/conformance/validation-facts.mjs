#!/usr/bin/env node
// Plays the recorded rejections (validation.json) and defaults (defaults.json) of ../shared/facts against a running server
// and prints the differences by kind. All requests use dryRun=All in the namespace "facts"; objects needed by updates are
// created and deleted.
//
//   node test/conformance/validation-facts.mjs --server https://127.0.0.1:6443 [--token T] [--only 'Pod|Service'] [--part
//   validation|defaults] [--brief]
//
// --only is matched against kinds, --brief prints only the counts. Exits with 1 for a difference that is not listed as known
// below, or a known one that no longer occurs; without ../shared/facts, exits with 0.
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';

const facts = fileURLToPath(new URL('../../../shared/facts/', import.meta.url));
if (!existsSync(facts)) {
  console.log('no ../shared/facts: skipped');
  process.exit(0);
}
const { values: options } = parseArgs({
  options: {
    server: { type: 'string', default: 'https://127.0.0.1:6443' },
    token: { type: 'string', default: 'admin-token' },
    only: { type: 'string', default: '' },
    part: { type: 'string', default: '' },
    brief: { type: 'boolean', default: false },
  },
});
/** Known differences and their reasons. */
const known = new Map([
  [
    'ConfigMap list?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0 []',
    'the recorded server had compacted revision 1; this one has just been started',
  ],
]);
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const only = new RegExp(`^(?:${options.only || '.*'})$`);
const read = (name) => JSON.parse(readFileSync(facts + name, 'utf8'));
const served = read('resources.json').served;
const defaultsCases = read('defaults.json');
/** A certificate signing request of CN=facts, in place of the record's placeholder. */
const signingRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIS01ISUNBUUF3RURFT01Bd0dBMVVFQXd3RlptRmpkSE13V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQgpCd05DQUFSbDhhWCtUWEhaaTZIZFR1WGFOdHU5Yy9PRlBXMkl2SFVqVE1lYVNxek5xODlkZGFwVW94UXBRMStVCjlPOTNmRGMrZ0NxbE9GL2JVQ2xMZTNwaHprbUxvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUloQVAyYnFKK2YKdGVYK0tGTmZXSDJHMXhJSU52TFNlQytWODNjMHZieHNuWFJxQWlBck9hV1NJc0RYdUtERmN6Q1VFOVlBTGFZVAoyd0xnaUhPSHRkbXJzVVYvWUE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
for (const { kind, sent } of defaultsCases) if (kind === 'CertificateSigningRequest') sent.spec.request = signingRequest;
const minimal = new Map(defaultsCases.map(({ id, gv, kind, sent }) => [id, { gv, kind, sent }]));
const immutable = (kind, value) => ({
  gv: 'v1',
  kind,
  sent: { apiVersion: 'v1', kind, metadata: { name: 'x', namespace: 'facts' }, immutable: true, data: { a: value } },
});
minimal.set('ConfigMap/imm', immutable('ConfigMap', 'b'));
minimal.set('Secret/imm', immutable('Secret', 'QQ=='));

function send(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${options.token}`, ...(body && { 'content-type': 'application/json' }) };
    const call = request(new URL(path, options.server), { method, agent, headers }, (response) => {
      let text = '';
      // A watch does not end; only its status is compared.
      if (response.statusCode === 200 && path.includes('watch=')) {
        resolve({ code: 200, answer: {} });
        call.destroy();
        return;
      }
      response
        .setEncoding('utf8')
        .on('data', (chunk) => (text += chunk))
        .on('end', () => {
          let answer = text;
          try {
            answer = JSON.parse(text);
          } catch {
            /* not JSON */
          }
          resolve({ code: response.statusCode, answer });
        });
    });
    call.on('error', (error) => (call.destroyed ? undefined : reject(error))).end(body && JSON.stringify(body));
  });
}

function pathOf(gv, kind, name) {
  const [resource, { namespaced }] = Object.entries(served[gv] ?? {}).find(([, entry]) => entry.kind === kind) ?? [];
  if (!resource) throw new Error(`no resource of ${gv} ${kind}`);
  return `/${gv.includes('/') ? 'apis' : 'api'}/${gv}${namespaced ? '/namespaces/facts' : ''}/${resource}${name ? `/${name}` : ''}`;
}

/** Expands `{a*3}` to aaa, in keys and values. */
function expand(value) {
  if (typeof value === 'string') return value.replace(/\{(.)\*(\d+)\}/gu, (_, letter, count) => letter.repeat(Number(count)));
  if (Array.isArray(value)) return value.map(expand);
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [expand(key), expand(item)]));
  return value;
}

function applyPatch(object, patch) {
  const result = structuredClone(object);
  for (const { op, path, value } of patch) {
    const steps = path
      .split('/')
      .slice(1)
      .map((step) => expand(step.replaceAll('~1', '/').replaceAll('~0', '~')));
    const last = steps.pop();
    let at = result;
    for (const step of steps) at = at[step] ??= {};
    if (op === 'remove') {
      if (Array.isArray(at)) at.splice(Number(last), 1);
      else delete at[last];
    } else if (Array.isArray(at) && last === '-') at.push(expand(value));
    else if (Array.isArray(at) && op === 'add') at.splice(Number(last), 0, expand(value));
    else at[last] = expand(value);
  }
  return result;
}

const tally = new Map();
const knownSeen = new Set();
function count(kind, differences, what) {
  const entry = tally.get(kind) ?? { passed: 0, failed: 0 };
  tally.set(kind, entry);
  if (known.has(what)) {
    knownSeen.add(what);
    if (differences.length > 0) return;
    differences.push(`is equal, but known to differ: ${known.get(what)}`);
  }
  if (differences.length === 0) entry.passed += 1;
  else {
    entry.failed += 1;
    if (!options.brief) console.log(`${what}\n${differences.map((line) => `    ${line}`).join('\n')}`);
  }
}

const causeText = (cause) => cause.join(' | ');

function compareAnswer(expected, { code, answer }) {
  const differences = [];
  if (code !== expected.code)
    differences.push(`code: expected ${expected.code}, got ${code}${answer?.message ? ` (${answer.message.slice(0, 300)})` : ''}`);
  if (expected.code < 400) return differences;
  if (code >= 400 && expected.reason && answer.reason !== expected.reason)
    differences.push(`reason: expected ${expected.reason}, got ${answer.reason}`);
  const message = expected.message && expand(expected.message);
  if (message && code === expected.code && !matches(message, answer.message))
    differences.push(`message: expected ${message}`, `              got ${answer.message}`);
  if (expected.causes) {
    const want = expected.causes.map((cause) => causeText(cause.map(expand)));
    const got = (answer.details?.causes ?? []).map(({ reason, field, message: text }) => causeText([reason, field, text]));
    const missing = [...want];
    const extra = [];
    for (const cause of got) {
      const index = missing.findIndex((expectedCause) => matches(expectedCause, cause));
      if (index >= 0) missing.splice(index, 1);
      else extra.push(cause);
    }
    for (const cause of missing) differences.push(`missing: ${cause.slice(0, 1500)}`);
    for (const cause of extra) differences.push(`  extra: ${cause.slice(0, 1500)}`);
    if (missing.length === 0 && extra.length === 0 && !want.every((cause, i) => matches(cause, got[i])))
      differences.push(`order: expected ${want.join(' ; ')}`, `            got ${got.join(' ; ')}`);
  }
  return differences;
}

/** Compares texts in which `<rv>` and similar placeholders match anything. */
function matches(expected, text) {
  const pattern = expected
    .split(/<[\w. ]+>/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${pattern}$`, 's').test(text ?? '');
}

/** Sorts rules, which upstream returns in Go's random map order. */
function sortRules({ status }) {
  for (const rules of [status.resourceRules, status.nonResourceRules])
    rules.sort((a, b) => (JSON.stringify(a, Object.keys(a).sort()) < JSON.stringify(b, Object.keys(b).sort()) ? -1 : 1));
}

const volatile = new Set(['/metadata/managedFields', '/metadata/uid', '/metadata/creationTimestamp', '/metadata/resourceVersion']);

function compareObjects(expected, got, path = '', differences = []) {
  if (volatile.has(path)) return differences;
  if (typeof expected === 'string' && /<[^>]+>/.test(expected)) {
    if (!matches(expected, got)) differences.push(`${path}: expected ${expected}, got ${got ?? 'nothing'}`);
    return differences;
  }
  const both = expected && got && typeof expected === 'object' && typeof got === 'object' && Array.isArray(expected) === Array.isArray(got);
  if (!both) {
    if (!isDeepStrictEqual(expected, got)) differences.push(`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
    return differences;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(got)]))
    compareObjects(expected[key], got[key], `${path}/${key}`, differences);
  return differences;
}

async function play(expected) {
  const { id, gv, kind, verb, patch } = expected;
  const { sent } = minimal.get(id);
  const [action, query = ''] = verb.split(/\?(.*)/s);
  const parameters = expand(query);
  if (action === 'list') return send('GET', `${pathOf(gv, kind)}?${parameters}`);
  if (action === 'create')
    return send('POST', `${pathOf(gv, kind)}?${/dryRun=/.test(parameters) ? '' : 'dryRun=All&'}${parameters}`, applyPatch(sent, patch));
  const created = await send('POST', pathOf(gv, kind), sent);
  if (created.code >= 300 && created.code !== 409)
    return { code: created.code, answer: { ...created.answer, message: `creating it: ${created.answer.message}` } };
  const path = pathOf(gv, kind, sent.metadata.name);
  if (kind === 'CustomResourceDefinition') await established(path);
  let updated;
  // The server's own controllers write, too (the status of a CustomResourceDefinition), and one case expects the conflict.
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const stored = await send('GET', path);
    updated = await send('PUT', `${path}?dryRun=All`, applyPatch(stored.answer, patch));
    if (updated.code !== 409 || expected.code === 409) break;
  }
  await remove(path);
  return updated;
}

/** Waits until a definition is Established, after which its immutable fields are fixed. */
async function established(path) {
  for (let attempt = 1; attempt <= 100; attempt += 1) {
    const { answer } = await send('GET', path);
    if (answer.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${path} is not Established`);
}

/** Deletes an object and removes its finalizers, because no controller runs. */
async function remove(path) {
  await send('DELETE', `${path}?gracePeriodSeconds=0&propagationPolicy=Background`);
  for (let attempt = 1; attempt <= 50; attempt += 1) {
    const left = await send('GET', path);
    if (left.code === 404) return;
    if (left.answer.metadata.finalizers?.includes('customresourcecleanup.apiextensions.k8s.io') !== true)
      await send('PUT', path, { ...left.answer, metadata: { ...left.answer.metadata, finalizers: undefined } });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${path} was not deleted`);
}

await send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'facts' } });
await send('POST', '/api/v1/namespaces/facts/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });

if (options.part !== 'defaults') {
  for (const expected of read('validation.json')) {
    if (!only.test(expected.kind)) continue;
    if (!minimal.has(expected.id)) throw new Error(`no minimal object ${expected.id}`);
    count(
      expected.kind,
      compareAnswer(expected, await play(expected)),
      `${expected.id} ${expected.verb} ${JSON.stringify(expected.patch).slice(0, 400)}`,
    );
  }
}
if (options.part !== 'validation') {
  for (const { id, kind, gv, code, sent, returned } of defaultsCases) {
    if (!only.test(kind)) continue;
    const got = await send('POST', `${pathOf(gv, kind)}?dryRun=All`, sent);
    if (kind === 'SelfSubjectRulesReview') for (const object of [returned, got.answer]) sortRules(object);
    const differences =
      got.code === code ? compareObjects(returned, got.answer) : [`code: expected ${code}, got ${got.code} (${got.answer.message})`];
    count(`${kind} (defaults)`, differences, `${id} defaults`);
  }
}
agent.destroy();
for (const [what, reason] of known) if (knownSeen.has(what) && !options.brief) console.log(`known: ${what}: ${reason}`);
let failed = 0;
for (const [kind, entry] of [...tally].sort(([a], [b]) => (a < b ? -1 : 1))) {
  failed += entry.failed;
  if (entry.failed > 0) console.log(`${kind}: ${entry.passed} equal, ${entry.failed} different`);
}
const passed = [...tally.values()].reduce((sum, entry) => sum + entry.passed, 0);
console.log(`${passed} equal, ${failed} different`);
process.exitCode = failed > 0 ? 1 : 0;
