import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Ways of being wrong that every contribution has, by name. `object` is what the contribution receives. */
const ways = `
const grown = [];
const kept = [];
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
const act = (contribution, text, object) => {
  const [where, way] = (text ?? '').split(' ');
  return where === contribution ? ways[way]?.(object) : undefined;
};
const beOf = (object) => object?.metadata?.annotations?.be;
`;

const admission = `
class Wild {
  admit({ object }) { return act('admit', beOf(object), object); }
  validate({ object }) { return act('validate', beOf(object), object); }
}
AdmissionPlugin({ name: 'Wild', match: [{ resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] }] })(Wild);
`;

const others = `
class Keys { authenticate({ headers }) { return act('authenticator', headers['x-be']); } }
AuthenticatorPlugin({ name: 'Keys' })(Keys);
class Gate {
  authorize({ user, name }) { return user.name === 'jane' && name.startsWith('be-') ? act('authorizer', 'authorizer ' + name.slice(3)) : { decision: 'NoOpinion', reason: '' }; }
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
const schema = { type: 'object', properties: { data: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } };
const items = defineResource({
  kind: 'Item', resource: 'items', versions: [{ name: 'v1', schema }],
  columns: [{ name: 'Size', type: 'string', description: 'Size.', value: (item) => act('column', beOf(item), item) ?? 'large' }],
  strategy: { prepareForCreate: (item) => act('prepare', beOf(item), item), validate: (item) => act('strategy', beOf(item), item) ?? [] },
});
const orders = defineResource({ kind: 'Order', resource: 'orders', versions: [{ name: 'v1', schema }], create: (sent) => act('create', beOf(sent), sent) ?? sent });
`;

const imports = `
import { setTimeout as sleep } from 'node:timers/promises';
import { AdmissionPlugin, AuditBackendPlugin, PostStartHookPlugin, AuthenticatorPlugin, AuthorizerPlugin, apiGroup, Controller, contribute, defineResource, inject, Informers } from 'kubenest/sdk';
`;

/** Packages by name: `admission` has only an admission plugin, for a worker; the others are wrong while they are loaded. */
const sources: Readonly<Record<string, string>> = {
  everything: `${imports}${ways}${admission}${others}
export default contribute(Wild, Keys, Gate, Records, Follows, Reconciles, apiGroup({ name: 'Shop', group: 'shop.example.com', resources: [items, orders] }));`,
  admission: `${imports}${ways}${admission}export default contribute(Wild);`,
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
