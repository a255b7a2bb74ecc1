import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Ways of being wrong that every contribution has, by name. `object` is what the contribution receives. */
const ways = `
const secret = 'correct-horse-battery';
const grown = [];
const kept = [];
const services = {};
const configMaps = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' };
/** A proxy all of whose traps throw. */
const hostile = (target) => new Proxy(target, new Proxy({}, { get() { throw new Error('a trap throws'); } }));
/** An error that looks like a denial. */
const strangeStatus = (more) => {
  const error = forbidden({ resource: { group: '', resource: 'configmaps' }, name: 'a' }, 'why');
  // A spread would call getters.
  const status = more && Object.defineProperties({ ...error.status }, Object.getOwnPropertyDescriptors(more));
  return new StatusError(status);
};
const ways = {
  throws() { throw new TypeError('undefined is not a function'); },
  'throws-nothing'() { throw undefined; },
  async rejects() { await sleep(1); throw new TypeError('undefined is not a function'); },
  hangs() { return new Promise(() => {}); },
  'throws-in-timer'() { setTimeout(() => { throw new Error('in a timer'); }, 1); return sleep(20); },
  'rejects-unhandled'() { Promise.reject(new Error('nobody handles this')); return sleep(20); },
  'throws-in-tick'() { process.nextTick(() => { throw new Error('in a tick'); }); return sleep(20); },
  'returns-text'() { return 'text'; },
  'returns-bigint'() { return 1n; },
  'returns-function'() { return () => 1; },
  'returns-cycle'() { const one = { decision: 'Allow', name: 'root', groups: [] }; one.one = one; one.extra = one; return [one]; },
  'leaves-function'(object) { object.data = { a: () => 1 }; },
  'leaves-bigint'(object) { object.data = { a: 1n }; },
  'leaves-cycle'(object) { object.data = { object }; },
  'leaves-symbol'(object) { object.data = { a: Symbol('a') }; },
  'removes-metadata'(object) { object.metadata = null; },
  'changes-kind'(object) { object.kind = 'Secret'; },
  'changes-name'(object) { object.metadata.name = 'other'; },
  'changes-namespace'(object) { object.metadata.namespace = 'kube-system'; },
  'changes-uid'(object) { object.metadata.uid = 'mine'; },
  'changes-half-and-throws'(object) { object.data = { half: 'done' }; throw new Error('half'); },
  'grows-the-object'(object) { object.data = { a: 'x'.repeat(8_000_000) }; },
  'overflows'(object) { return ways.overflows(object) + 1; },
  'changes-later'(object) { kept.push(object); setTimeout(() => { object.data = { later: 'yes' }; object.kind = 'Secret'; }, 5); },
  'throws-bare-object'() { throw Object.create(null); },
  'throws-hostile-object'() { throw hostile({}); },
  'throws-hostile-error'() { throw hostile(new Error('hostile')); },
  'throws-getters'() {
    const error = new Error('getters');
    for (const name of ['message', 'stack', 'name', 'code', 'status', 'cause'])
      Object.defineProperty(error, name, { enumerable: true, get() { throw new Error(name + ' throws'); } });
    throw error;
  },
  'throws-strange-members'() {
    const error = Object.assign(new Error('strange'), { big: 1n, symbol: Symbol('a'), run: () => 1, map: new Map([[{}, {}]]), date: new Date(NaN) });
    error.cause = error;
    error.message = { text: 1n };
    error.stack = 7n;
    throw error;
  },
  'throws-symbol'() { throw Symbol('thrown'); },
  'throws-bigint'() { throw 1n; },
  'throws-status-with-bigint'() { throw strangeStatus({ message: 1n }); },
  'throws-status-with-cycle'() { const details = {}; details.causes = [details]; throw strangeStatus({ details }); },
  'throws-status-with-function'() { throw strangeStatus({ details: { kind: () => 1 } }); },
  'throws-status-of-another-kind'() { throw strangeStatus({ kind: 'Secret', apiVersion: 'v2' }); },
  'throws-status-with-getter'() { throw strangeStatus({ get reason() { throw new Error('no reason'); } }); },
  'throws-status-without-message'() { throw strangeStatus({ message: undefined, status: 'Success' }); },
  'throws-null-status'() { throw strangeStatus(null); },
  'throws-status-with-text-as-delay'() { throw strangeStatus({ code: 429, details: { retryAfterSeconds: '1\\r\\nset-cookie: a=b' } }); },
  'returns-thenable-that-throws'() { return { then() { throw new Error('then'); } }; },
  'returns-thenable-getter'() { return { get then() { throw new Error('then'); } }; },
  'returns-bare-object'() { return Object.create(null); },
  'returns-hostile-object'() { return hostile({}); },
  'leaves-date'(object) { object.data = { a: new Date() }; },
  'leaves-map'(object) { object.data = new Map([['a', 'b']]); },
  'leaves-set'(object) { object.metadata.finalizers = new Set(['a.example.com/b']); },
  'leaves-instance'(object) { object.data = new (class Data { a = 'b'; c = 'd'; })(); },
  'leaves-instance-without-constructor'(object) { object.data = Object.assign(Object.create(Object.create(null)), { a: 'c' }); },
  'leaves-bytes'(object) { object.binaryData = { a: new Uint8Array(4) }; },
  'leaves-boxed-text'(object) { object.data = { a: new String('b') }; },
  'leaves-nan'(object) { object.metadata.generation = NaN; },
  'leaves-infinity'(object) { object.metadata.deletionGracePeriodSeconds = Infinity; },
  'leaves-fraction'(object) { object.metadata.deletionGracePeriodSeconds = 1.5; },
  'leaves-sparse-list'(object) { object.metadata.finalizers = [, 'a.example.com/b']; },
  'leaves-promise'(object) { object.data = { a: Promise.resolve('b') }; },
  'leaves-promised-data'(object) { object.data = Promise.resolve({ a: 'b' }); },
  'leaves-number'(object) { object.data = { a: 1 }; },
  'leaves-text'(object) { object.data = 'text'; },
  'leaves-list'(object) { object.data = ['b']; },
  'leaves-unknown-field'(object) { object.dada = { a: 'b' }; },
  'leaves-to-json'(object) { object.data = { a: 'b', toJSON() { return { a: 'c' }; } }; },
  'leaves-throwing-getter'(object) { Object.defineProperty(object, 'immutable', { enumerable: true, get() { throw new Error('getter'); } }); },
  'leaves-hostile-object'(object) { object.data = hostile({ a: 'b' }); },
  'leaves-revoked-proxy'(object) { const { proxy, revoke } = Proxy.revocable({}, {}); object.data = proxy; revoke(); },
  'leaves-text-as-metadata'(object) { object.metadata = 'text'; },
  'leaves-list-as-name'(object) { object.metadata.name = [object.metadata.name]; },
  'removes-kind'(object) { delete object.kind; },
  'leaves-symbol-key'(object) { object.data[Symbol('a')] = () => 1; },
  'leaves-undefined'(object) { object.data.b = undefined; },
  'leaves-hidden-member'(object) { Object.defineProperty(object, 'hidden', { value: () => 1 }); },
  'leaves-getter'(object) { Object.defineProperty(object.data, 'a', { enumerable: true, configurable: true, get: () => 'b' }); },
  'leaves-proxy'(object) { object.data = new Proxy({ a: 'b' }, {}); },
  'leaves-bare-object'(object) { object.data = Object.assign(Object.create(null), { a: 'b' }); },
  'changes-the-request'(object, request) {
    if (request.user === undefined) return;
    const { user, options, kind, resource } = request;
    user.name = 'root'; user.groups.push('system:masters'); options.dryRun = ['All']; kind.kind = 'Secret'; resource.resource = 'secrets';
  },
  'calls-the-request-later'(object, request) {
    setTimeout(() => {
      request.addWarning?.('later');
      request.addAnnotation?.('a.example.com/later', 'yes');
      request.trace?.note({ kind: 'a', name: 'b' });
    }, 5);
  },
  'adds-strange-annotations'(object, request) {
    const cycle = {};
    cycle.cycle = cycle;
    for (const [at, value] of [cycle, 1n, () => 1, undefined, null, 7, 'x'.repeat(3_000_000)].entries()) {
      try { request.addAnnotation?.('a.example.com/' + at, value); } catch {}
    }
  },
  'adds-strange-warnings'(object, request) {
    for (const text of [{}, 1n, () => 1, undefined, null, 7, 'a\\r\\nset-cookie: a=b', '\\ud800', '"\\\\"', 'x'.repeat(3_000_000)]) {
      try { request.addWarning?.(text); } catch {}
    }
    for (let at = 0; at < 10_000; at += 1) request.addWarning?.('warning ' + at);
  },
  'adds-strange-notes'(object, request) {
    const cycle = {};
    cycle.cycle = cycle;
    for (const details of [cycle, { a: 1n }, { a: () => 1 }, hostile({}), new Map([[1, 2]]), 'text'])
      for (const note of [{ kind: 'lookup', name: 'strange', details }, details]) {
        try { request.trace?.note(note); } catch {}
      }
  },
  'floods-metrics'() { for (let at = 0; at < 100_000; at += 1) services.counter.inc({ a: String(at % 3) }); },
  'floods-log'() { for (let at = 0; at < 100_000; at += 1) services.logger.info({ at }, 'again'); },
  'floods-console'() { for (let at = 0; at < 100_000; at += 1) console.log('again and again', at); },
  'floods-reads'() { for (let at = 0; at < 20_000; at += 1) services.client.get(configMaps, 'default', 'present').catch(() => {}); },
  'floods-writes'() { for (let at = 0; at < 20_000; at += 1) services.client.delete(configMaps, 'default', 'absent').catch(() => {}); },
  'floods-rejections'() { for (let at = 0; at < 20_000; at += 1) Promise.reject(new Error('again')); },
  'misuses-metrics'() {
    services.metrics.gauge({ name: 'kubenest_plugin_failures_total', help: 'Another type.' }).set({}, 1);
    services.counter.inc({ b: 'another label' });
  },
  'returns-async-generator'() { return (async function* () { yield 1; })(); },
  'returns-array'() { return [undefined]; },
  'returns-class'() { return class {}; },
  'returns-thenable-that-never-settles'() { return { then() {} }; },
  'returns-thenable-that-settles-twice'() { return { then(resolve, reject) { resolve(1n); reject(new Error(secret)); resolve(undefined); throw new Error(secret); } }; },
  'returns-thenable-of-thenables'() { const end = performance.now() + 3_000; const one = { then(resolve) { setImmediate(() => resolve(performance.now() < end ? one : undefined)); } }; return one; },
  'fails-after-the-timeout'() { return sleep(isMainThread ? 1_200 : 1_700).then(() => { throw new Error(secret); }); },
  'returns-text-after-the-timeout'() { return sleep(isMainThread ? 1_200 : 1_700).then(() => 'late'); },
  'throws-a-secret'() { throw Object.assign(new Error(secret, { cause: new Error(secret) }), { secret }); },
  'throws-function'() { throw Object.assign(() => secret, { message: secret }); },
  'throws-promise'() { throw Promise.reject(new Error(secret)); },
  'throws-error-of-another-realm'() { return runInNewContext('throw new TypeError(secret)', { secret }); },
  'throws-text-of-another-realm'() { return runInNewContext('throw secret', { secret }); },
  'throws-aggregate'() { throw new AggregateError([new Error(secret), secret, null], secret); },
  'throws-dom-exception'() { throw new DOMException(secret, 'AbortError'); },
  'throws-huge-error'() { throw new Error(secret.repeat(200_000)); },
  'throws-huge-denial'() { throw forbidden({ resource: { group: '', resource: 'configmaps' }, name: 'a' }, 'x'.repeat(3_000_000)); },
  'throws-changing-status'() {
    const error = strangeStatus();
    const { status } = error;
    let reads = 0;
    throw Object.defineProperty(error, 'status', { get: () => (reads++ % 2 === 0 ? { ...status, code: 1n, message: 1n } : status) });
  },
  'throws-strange-status-code'() { throw Object.assign(new Error(secret), { statusCode: 7e9 }); },
  'throws-system-error'() { return readFile('/none/' + secret); },
  'imports-missing-module'() { return import('./' + secret + '.js'); },
  'imports-missing-package'() { return import(secret); },
  'throws-in-immediate'() { setImmediate(() => { throw new Error('in an immediate'); }); return sleep(20); },
  'throws-in-microtask'() { queueMicrotask(() => { throw new Error('in a microtask'); }); return sleep(20); },
  'throws-in-event-target'() { const target = new EventTarget(); target.addEventListener('a', () => { throw new Error('in a listener'); }); target.dispatchEvent(new Event('a')); return sleep(20); },
  'throws-in-message-port'() { const { port1, port2 } = new MessageChannel(); port2.onmessage = () => { port1.close(); throw new Error('in a port'); }; port1.postMessage(1); return sleep(40); },
  'throws-in-file-callback'() { readFileWithCallback('/none', () => { throw new Error('in a callback'); }); return sleep(40); },
  'rejects-unhandled-of-another-realm'() { runInNewContext("Promise.reject(new TypeError('foreign'))"); return sleep(20); },
  'rejects-unhandled-without-reason'() { Promise.reject(); return sleep(20); },
  'fails-to-spawn'() { spawn('/none/program'); return sleep(60); },
  'fails-to-connect'() { connect(1, '127.0.0.1'); return sleep(60); },
  'fails-in-a-worker'() { new Worker('throw new Error(1)', { eval: true, stderr: true }); return sleep(20).then(() => undefined); },
  'freezes-the-object'(object) { const freeze = (one) => { if (one && typeof one === 'object') { Object.values(one).forEach(freeze); Object.freeze(one); } }; freeze(object); },
  'seals-the-object'(object) { Object.values(object).forEach((one) => typeof one === 'object' && Object.seal(one)); Object.preventExtensions(object); },
  'leaves-read-only-members'(object) { Object.defineProperty(object, 'data', { enumerable: true, configurable: false, writable: false, value: { a: 'b' } }); },
  'leaves-changing-getter'(object) { let calls = 0; Object.defineProperty(object, 'data', { enumerable: true, get: () => (calls++ > 0 ? { a: 1n } : { a: 'b' }) }); },
  'shares-objects-between-calls'(object) { kept.data ??= object.data; object.data = kept.data; },
  'leaves-deep-object'(object) { let deep = {}; for (let at = 0; at < 200_000; at += 1) deep = { deep }; object.data = { a: deep }; },
  'leaves-deep-list'(object) { let deep = []; for (let at = 0; at < 200_000; at += 1) deep = [deep]; object.metadata.finalizers = deep; },
  'leaves-own-prototype-member'(object) { object.data = JSON.parse('{"a":"b","__proto__":{"polluted":"yes"}}'); },
  'leaves-constructor-member'(object) { object.metadata.labels = { constructor: { prototype: { polluted: 'yes' } } }; },
  'replaces-the-request'(object, request) { try { request.object = { kind: 'Secret' }; } catch {} try { request.operation = 'DELETE'; request.namespace = 'kube-system'; } catch {} },
  'uses-async-local-storage'() { const storage = new AsyncLocalStorage(); storage.enterWith('mine'); storage.exit(() => {}); return sleep(1).then(() => storage.disable()); },
  'changes-the-folder'() { process.chdir(secret); },
  'runs-a-worker'() { const worker = new Worker('setTimeout(() => {}, 1e6)', { eval: true }); return sleep(10).then(() => worker.terminate()).then(() => undefined); },
  loops() { for (;;); },
  grows() { for (;;) grown.push(new Array(1e6).fill(Math.random())); },
  'grows-buffers'() {
    for (;;) {
      grown.push(Buffer.alloc(16 * 1_048_576, 1));
      // At a rate that the server can follow.
      const end = performance.now() + 40;
      while (performance.now() < end);
    }
  },
  'returns-a-large-object'(object) { object.data = { a: 'x'.repeat(20_000_000) }; },
  exits() { process.exit(3); },
  pollutes() { Object.prototype.polluted = 'yes'; JSON.stringify = () => 'no'; globalThis.Promise = undefined; throw new Error('polluted'); },
};
/** Acts if the annotation or header names this contribution and a way: \`validate throws\`. */
const act = (contribution, text, object, request = {}) => {
  const [where, way] = (text ?? '').split(' ');
  return where === contribution ? ways[way]?.(object, request) : undefined;
};
const beOf = (object) => object?.metadata?.annotations?.be;
`;

const admission = `
class Wild {
  admit(request) { return act('admit', beOf(request.object), request.object, request); }
  validate(request) { return act('validate', beOf(request.object), request.object, request); }
}
AdmissionPlugin({ name: 'Wild', match: [{ resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] }] })(Wild);
`;

const others = `
class Keys { authenticate({ headers }) { return act('authenticator', headers['x-be']); } }
AuthenticatorPlugin({ name: 'Keys' })(Keys);
class Gate {
  authorize({ user, name }) { return user.name === 'jane' && name.startsWith('be-') ? act('authorizer', 'authorizer ' + name.slice(3)) : { decision: 'NoOpinion', reason: '' }; }
  rulesFor({ name }) {
    return name.startsWith('be-') ? act('rules', 'rules ' + name.slice(3)) : { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] };
  }
}
AuthorizerPlugin({ name: 'Gate', failurePolicy: 'Deny' })(Gate);
class Records {
  async process(events) {
    for (const { requestURI } of events) {
      const way = new URL(requestURI, 'http://a').searchParams.get('audit');
      if (way !== null) return act('audit', 'audit ' + way, events[0]);
    }
    return true;
  }
}
AuditBackendPlugin({ name: 'Records' })(Records);
class Follows {
  constructor(informers) { this.maps = informers.for({ group: '', resource: 'configmaps' }); }
  async run(signal) {
    const subscription = this.maps.subscribe((type, object) => act('listener', beOf(object), object));
    await new Promise((end) => signal.addEventListener('abort', end));
    subscription[Symbol.dispose]();
  }
}
inject(Informers)(Follows, undefined, 0);
Controller({ name: 'follows' })(Follows);
class Reconciles {
  async reconcile({ name }) { return act('reconcile', 'reconcile ' + name.replace(/^be-/, ''), {}); }
}
Controller({ name: 'reconciles', for: { group: '', version: 'v1', resource: 'secrets', kind: 'Secret' }, timeoutMs: 200 })(Reconciles);
/** Passes functions to the informers that all controllers share. */
class Watchful {
  constructor(informers) {
    const maps = informers.for(configMaps);
    maps.addIndex('be', (map) => act('index', beOf(map), map) ?? []);
    const handler = (map) => act('handler', beOf(map), map);
    maps.handle({ added: handler, updated: handler, deleted: handler });
  }
  reconcile() {}
  requests(map) { return act('watches', beOf(map), map) ?? []; }
  tick() {
    const way = globalThis.scheduleOfTest;
    delete globalThis.scheduleOfTest;
    return ways[way]?.({});
  }
}
inject(SharedInformers)(Watchful, undefined, 0);
Watches(configMaps)(Watchful.prototype, 'requests');
Schedule('@every 1s')(Watchful.prototype, 'tick');
Controller({ name: 'watchful', for: configMaps, filter: (map) => act('filter', beOf(map), map) ?? true })(Watchful);
const schema = { type: 'object', properties: { data: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } };
const items = defineResource({
  kind: 'Item', resource: 'items', versions: [{ name: 'v1', schema }],
  columns: [{ name: 'Size', type: 'string', description: 'Size.', value: (item) => act('column', beOf(item), item) ?? 'large' }],
  strategy: { prepareForCreate: (item) => act('prepare', beOf(item), item), validate: (item) => act('strategy', beOf(item), item) ?? [] },
});
const parcels = defineResource({
  kind: 'Parcel', resource: 'parcels', versions: [{ name: 'v1', schema }, { name: 'v2', schema }],
  convert: (parcel) => beOf(parcel)?.startsWith('convert') ? act('convert', beOf(parcel), parcel) : parcel,
});
/** Calls \`success\` with the result of a way, or misbehaves itself. */
class Strategy {
  authenticate(request) {
    const [what, way] = request.get('x-pass').split(' ');
    if (what === 'call') return ways[way]({});
    if (what === 'later') return void setTimeout(() => this[way](Object.create(null)), 1);
    this.success(ways[way]({}));
    this.success({ name: 'root', groups: ['system:masters'] });
  }
}
const Pass = passportAuthenticator({ name: 'Pass', header: 'x-pass', strategy: () => new Strategy() });
let later;
class Wildlife {
  read(way) {
    if (!way.startsWith('later-')) return ways[way]({});
    later = way.slice('later-'.length);
    return 'later';
  }
  write(way) { return ways[way]({}); }
}
for (const [method, route] of [['read', Get], ['write', Post]]) {
  route(':way')(Wildlife.prototype, method, Object.getOwnPropertyDescriptor(Wildlife.prototype, method));
  Param('way')(Wildlife.prototype, method, 0);
}
PagesController('wild')(Wildlife);
/** Is wrong in a timer that it starts while Nest creates it. */
class Inner {
  constructor() {
    setInterval(() => {
      const way = later;
      later = undefined;
      if (way) ways[way]({});
    }, 10).unref();
  }
}
Module({ controllers: [Wildlife] })(Inner);
class Outer {}
Module({ imports: [Inner] })(Outer);
const orders = defineResource({ kind: 'Order', resource: 'orders', versions: [{ name: 'v1', schema }], create: (sent) => act('create', beOf(sent), sent) ?? sent });
`;

const imports = `
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { readFile as readFileWithCallback } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { isMainThread, Worker } from 'node:worker_threads';
import { AdmissionPlugin, AuditBackendPlugin, PostStartHookPlugin, AuthenticatorPlugin, AuthorizerPlugin, apiGroup, passportAuthenticator, Client, Controller, contribute, defineResource, forbidden, inject, Informers, Logger, Metrics, Schedule, SharedInformers, StatusError, Watches } from 'kubenest/sdk';
import { Controller as PagesController, Get, Module, pages, Param, Post } from 'kubenest/sdk/pages';
`;

/** Packages by name: `admission` has only an admission plugin, for a worker; the others are wrong while they are loaded. */
const sources: Readonly<Record<string, string>> = {
  everything: `${imports}${ways}${admission}${others}
export default contribute(Wild, Keys, Gate, Records, Follows, Reconciles, Watchful, apiGroup({ name: 'Shop', group: 'shop.example.com', resources: [items, orders, parcels] }), Pass, pages({ name: 'Pages', module: Outer }));`,
  admission: `${imports}${ways}${admission}
class Services {
  constructor(client, metrics, logger, informers) {
    informers.for(configMaps).subscribe((type, object) => act('listener', beOf(object), object));
    Object.assign(services, { client, metrics, logger, counter: metrics.counter({ name: 'chaos_total', help: 'Calls.', labels: ['a'] }) });
  }
  validate() {}
}
[Client, Metrics, Logger, Informers].forEach((service, at) => inject(service)(Services, undefined, at));
AdmissionPlugin({ name: 'Services', match: [{ resources: ['endpoints'], operations: ['CREATE'] }] })(Services);
export default contribute(Wild, Services);`,
  run: `${imports}${ways}class Runs { run() { return ways[globalThis.runOfTest]({}); } }
Controller({ name: 'runs' })(Runs);
export default contribute(Runs);`,
  schedule: `${imports}${ways}class Only { tick() { return ways[globalThis.onlyOfTest]?.({}); } }
Schedule('@every 1s')(Only.prototype, 'tick');
Controller({ name: 'only' })(Only);
export default contribute(Only);`,
  hook: `${imports}${ways}class Begins { run() { return ways[globalThis.hookOfTest]?.({}); } }
PostStartHookPlugin({ name: 'Begins' })(Begins);
export default contribute(Begins);`,
  storage: `import { contribute, storageBackend } from 'kubenest/sdk';
export default contribute(storageBackend({ name: 'Wild', open: () => globalThis.storeOfTest() }));`,
  'throwing-constructor': `${imports}${admission.replace('class Wild {', "class Wild { constructor() { throw new Error('in the constructor'); }")}
const act = () => {}; const beOf = act; export default contribute(Wild);`,
  'hanging-module': 'await new Promise(() => setInterval(() => {}, 1_000)); export default undefined;',
  'throwing-module': "throw new Error('in the module'); export default undefined;",
};

/** Writes the packages @acme/NAME to the folders NAME. */
export async function writeChaoticPackages(folder: string): Promise<void> {
  for (const [name, source] of Object.entries(sources)) {
    await mkdir(join(folder, name));
    const manifest = { name: `@acme/${name}`, version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
    await writeFile(join(folder, name, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, name, 'index.js'), source);
  }
}
