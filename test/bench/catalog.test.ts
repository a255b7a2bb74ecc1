import { Buffer } from 'node:buffer';
import { generateKeyPairSync, sign } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { type InProcessApi, startApi } from '#cmd/explain/api';
import { costOfCalls, leastCosts } from './least-costs.ts';

const root = resolve(import.meta.dirname, '../..');
const creations = 150;
/**
 * Limits of the processor time of a create, as multiples of that without the catalog. Out of the scope of all rules it takes 1.05 to 1.2 times,
 * which is the informer of CostQuota: it reads each pod. The rules that admit the pod take 1.4 to 1.8 times.
 */
const mostOutOfScope = 1.3;
const mostWithMatch = 2;

const digest = `sha256:${'0a'.repeat(32)}`;
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** The stored signature of the image, so that the pod complies with all rules. */
function configMap(): object {
  const critical = { image: { 'docker-manifest-digest': digest }, type: 'cosign container image signature' };
  const payload = Buffer.from(JSON.stringify({ critical }));
  const line = { Base64Signature: sign('sha256', payload, privateKey).toString('base64'), Payload: payload.toString('base64') };
  return { metadata: { name: digest.replace(':', '-') }, data: { signature: JSON.stringify(line) } };
}

/** Configurations of the rules, by package. */
const configurations: Readonly<Record<string, object>> = {
  cost: { CostQuota: { prices: { cpu: 1, memory: 1 }, budgets: [{ namespaces: ['*'], amount: 1e9 }] } },
  'image-signatures': {
    VerifyImageSignatures: {
      configMapNamespace: 'default',
      rules: [{ images: ['*'], keys: [publicKey.export({ type: 'spki', format: 'pem' })] }],
    },
  },
  images: { ReplaceImageRegistry: { mirrors: [{ from: 'docker.io', to: 'mirror.example.com' }] } },
  namespaces: { RequiredNamespaceLabels: { labels: [{ key: 'team' }] } },
  'storage-and-host': { AllowedStorageClasses: { allowed: ['*'] } },
  workloads: {
    AllowedPriorityClasses: { allowed: ['*'] },
    RequiredAnnotations: { annotations: [{ key: 'runbook' }] },
    RequiredLabels: { labels: [{ key: 'team' }] },
  },
};

const packages = readdirSync(join(root, 'plugins/catalog')).filter((name) => name !== 'common');

/** Returns a policy for each rule that the page of a package lists. */
async function policiesOf(name: string, policy: object): Promise<object> {
  const page = await readFile(join(root, 'plugins/catalog', name, 'README.md'), 'utf8');
  return Object.fromEntries([...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, rule = '']) => [rule, policy]));
}

async function startWithCatalog(policy?: object): Promise<InProcessApi> {
  const list = await Promise.all(
    packages.map(async (name) => ({
      package: `kubenest/catalog/${name}`,
      configuration: configurations[name] ?? {},
      ...(policy && { policies: await policiesOf(name, policy) }),
    })),
  );
  return startApi(undefined, { plugins: { list, file: join(root, 'catalog.yaml') }, isQuiet: true });
}

/** Returns a pod of the ReplicaSet with the uid. */
const pod = (name: string, uid: string): object => ({
  metadata: {
    name,
    labels: { team: 'shop' },
    annotations: { runbook: 'https://runbooks.example.com/web' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true }],
  },
  spec: {
    serviceAccountName: 'web',
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: 'registry' }],
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'web',
        image: `ghcr.io/acme/web:1.2@${digest}`,
        imagePullPolicy: 'Always',
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '64Mi' } },
      },
    ],
  },
});

/** Creates an object and returns its uid. */
async function create(api: InProcessApi, path: string, body: object): Promise<string> {
  const { status, text } = await api.ask({ method: 'POST', path, body });
  if (status !== 201) throw new Error(text);
  return (JSON.parse(text) as { metadata: { uid: string } }).metadata.uid;
}

/** The owner of the pods of a round. */
const replicaSet = {
  metadata: { name: 'web', labels: { team: 'shop' } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { team: 'shop' } },
    template: { metadata: { labels: { team: 'shop' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
};

/** Returns a measurement: the microseconds of a create in a namespace of its own. */
async function costOn(api: InProcessApi): Promise<() => Promise<number>> {
  await api.withoutAdmission(() => create(api, '/api/v1/namespaces/default/configmaps', configMap()));
  let rounds = 0;
  return async () => {
    const namespace = `round-${(rounds += 1)}`;
    await create(api, '/api/v1/namespaces', { metadata: { name: namespace, labels: { team: 'shop' } } });
    const owner = await api.withoutAdmission(() => create(api, `/apis/apps/v1/namespaces/${namespace}/replicasets`, replicaSet));
    let pods = 0;
    return costOfCalls(creations, () => create(api, `/api/v1/namespaces/${namespace}/pods`, pod(`web-${(pods += 1)}`, owner)));
  };
}

it('a create takes hardly longer out of the scope of the whole catalog, and less than twice as long if all of it admits', async () => {
  await using servers = new AsyncDisposableStack();
  const policy = { scope: { namespaces: ['elsewhere'] } };
  const measurements = {
    without: await costOn(servers.use(await startApi(undefined, { isQuiet: true }))),
    outOfScope: await costOn(servers.use(await startWithCatalog(policy))),
    matching: await costOn(servers.use(await startWithCatalog())),
  };
  const isEnough = ({ without, outOfScope, matching }: Readonly<Record<keyof typeof measurements, number>>): boolean =>
    outOfScope < without * mostOutOfScope && matching < without * mostWithMatch;
  const least = await leastCosts(measurements, isEnough);
  process.stdout.write(`create of a pod in the process, µs: ${JSON.stringify(least)}\n`);
  expect(least.outOfScope / least.without).toBeLessThan(mostOutOfScope);
  expect(least.matching / least.without).toBeLessThan(mostWithMatch);
}, 180_000);
