/** Drives real controllers with kubectl and helm, like a user. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Tools {
  readonly kubectl: string;
  readonly helm: string;
}
export interface StepTime {
  readonly step: string;
  readonly seconds: number;
}

interface Item {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly phase?: string; readonly hard?: object; readonly used?: Record<string, string> };
  readonly spec?: { readonly holderIdentity?: string; readonly nodeName?: string; readonly unschedulable?: boolean };
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[];
}

const patience = '60s';
const workloads = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "registry.test/db:1"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "registry.test/agent:1"}]}
`;
const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`;
const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: typed}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: "object.spec.replicas > 'one'"}]
`;
/** Warning of kube-controller-manager, derived from the types in the server's OpenAPI document. */
const typeWarning = `apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'
 | object.spec.replicas > 'one'
 | .....................^
`;
const settings = (name: string, value: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, labels: {set: settings}}
data: {value: "${value}"}
`;

/** A scenario in a cluster. `folder` is for temporary files. */
export class Scenario {
  readonly times: StepTime[] = [];
  readonly #tools: Tools;
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(
    tools: Tools,
    kubeconfig: string,
    folder: string,
    readonly nodes: readonly [string, string, string] = ['kwok-0', 'kwok-1', 'kwok-2'],
  ) {
    this.#tools = tools;
    this.#folder = folder;
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    this.#environment = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig };
  }

  /** Rejects with the first failure. */
  async run(): Promise<void> {
    await this.#step('cron job is made', () =>
      this.#kubectl('create', 'cronjob', 'tick', '--image=registry.test/tick:1', '--schedule=* * * * *'),
    );
    await this.#step('deployment of 10 replicas', async () => {
      await this.#kubectl('create', 'deployment', 'web', '--image=registry.test/web:1', '--replicas=10', '--port=80');
      await this.#kubectl('rollout', 'status', 'deployment/web', `--timeout=${patience}`);
      const pods = await this.#items('pods', '-l', 'app=web');
      assert.equal(pods.filter(({ status }) => status?.phase === 'Running').length, 10);
      assert.equal(new Set(pods.map(({ spec }) => spec?.nodeName)).size, 3);
    });
    await this.#step('rollout, scale, undo', async () => {
      await this.#kubectl('set', 'image', 'deployment/web', 'web=registry.test/web:2');
      await this.#kubectl('rollout', 'status', 'deployment/web', `--timeout=${patience}`);
      await this.#kubectl('scale', 'deployment/web', '--replicas=3');
      await this.#kubectl('rollout', 'undo', 'deployment/web');
      await this.#kubectl('rollout', 'status', 'deployment/web', `--timeout=${patience}`);
      await this.#until('3 pods are left', async () => (await this.#items('pods', '-l', 'app=web')).length === 3);
      const image = await this.#kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
      assert.equal(image, 'registry.test/web:1');
    });
    await this.#step('service and its endpoints', async () => {
      await this.#kubectl('expose', 'deployment', 'web');
      await this.#until('3 endpoints', async () => {
        const slices = await this.#items('endpointslices', '-l', 'kubernetes.io/service-name=web');
        return slices.flatMap(({ endpoints }) => endpoints ?? []).length === 3;
      });
    });
    await this.#step('stateful set and daemon set', async () => {
      await this.#kubectl('apply', '-f', this.#file('workloads.yaml', workloads));
      await this.#kubectl('rollout', 'status', 'statefulset/db', `--timeout=${patience}`);
      await this.#kubectl('rollout', 'status', 'daemonset/agent', `--timeout=${patience}`);
      assert.deepEqual((await this.#items('pods', '-l', 'app=db')).map(({ metadata }) => metadata.name).sort(), ['db-0', 'db-1', 'db-2']);
      assert.equal((await this.#items('pods', '-l', 'app=agent')).length, 3);
    });
    await this.#step('job', async () => {
      await this.#kubectl('create', 'job', 'once', '--image=registry.test/once:1');
      await this.#kubectl('wait', '--for=condition=complete', 'job/once', `--timeout=${patience}`);
    });
    await this.#step('quota, autoscaler, leases', () => this.#quotaAutoscalerLeases());
    await this.#step('garbage collection', async () => {
      await this.#kubectl('delete', 'deployment', 'web', '--cascade=foreground', `--timeout=${patience}`);
      assert.deepEqual(await this.#items('replicasets', '-l', 'app=web'), []);
      await this.#until('its pods are gone', async () => (await this.#items('pods', '-l', 'app=web')).length === 0);
    });
    await this.#step('namespace is emptied', async () => {
      await this.#kubectl('create', 'namespace', 'brief');
      await this.#kubectl('create', 'deployment', 'web', '--image=registry.test/web:1', '--replicas=3', '-n', 'brief');
      await this.#kubectl('rollout', 'status', 'deployment/web', '-n', 'brief', `--timeout=${patience}`);
      await this.#kubectl('delete', 'namespace', 'brief', `--timeout=${patience}`);
      assert.equal((await this.#items('pods', '-n', 'brief')).length, 0);
    });
    await this.#step('helm', () => this.#helmSteps());
    await this.#step('nodes', () => this.#nodes());
    await this.#step('apply and access', () => this.#applyAndAccess());
    await this.#step('types of a policy are checked', () => this.#policyTypes());
    await this.#step('cron job has run', () =>
      this.#until(
        'it has made a job',
        async () => (await this.#items('jobs')).some(({ metadata }) => metadata.name.startsWith('tick-')),
        75,
      ),
    );
  }

  async #policyTypes(): Promise<void> {
    await this.#kubectl('apply', '-f', this.#file('policy.yaml', policy));
    const get = (path: string) => this.#kubectl('get', 'validatingadmissionpolicy', 'typed', '-o', `jsonpath={.status.${path}}`);
    await this.#until('its status has been written', async () => (await get('observedGeneration')) === '1');
    assert.equal(await get('typeChecking.expressionWarnings[*].fieldRef'), 'spec.validations[0].expression');
    assert.equal(await get('typeChecking.expressionWarnings[0].warning'), typeWarning);
  }

  async #quotaAutoscalerLeases(): Promise<void> {
    await this.#kubectl('create', 'quota', 'few', '--hard=pods=50,configmaps=20');
    await this.#until('the quota counts', async () => Number((await this.#items('resourcequotas'))[0]?.status?.used?.['pods']) >= 9);
    await this.#kubectl('autoscale', 'deployment', 'web', '--min=3', '--max=4', '--cpu=80%');
    assert.equal((await this.#items('horizontalpodautoscalers')).length, 1);
    await this.#kubectl('delete', 'hpa', 'web');
    const leases = await this.#items('leases', '-n', 'kube-system');
    const holders = leases.filter(({ spec }) => spec?.holderIdentity).map(({ metadata }) => metadata.name);
    for (const name of ['kube-controller-manager', 'kube-scheduler']) assert.ok(holders.includes(name), `${name} holds its lease`);
  }

  async #helmSteps(): Promise<void> {
    const chart = join(this.#folder, 'shop');
    await this.#helm('create', chart);
    await this.#helm('install', 'shop', chart, '--wait', `--timeout=${patience}`);
    await this.#helm('upgrade', 'shop', chart, '--set', 'replicaCount=2', '--wait', `--timeout=${patience}`);
    assert.equal((await this.#items('pods', '-l', 'app.kubernetes.io/instance=shop')).length, 2);
    await this.#helm('rollback', 'shop', '1', '--wait', `--timeout=${patience}`);
    assert.match(await this.#helm('history', 'shop'), /Rollback to 1/);
    await this.#helm('uninstall', 'shop', '--wait', `--timeout=${patience}`);
    assert.deepEqual(await this.#items('services', '-l', 'app.kubernetes.io/instance=shop'), []);
  }

  async #nodes(): Promise<void> {
    const [first, second, third] = this.nodes;
    await this.#kubectl('drain', first, '--ignore-daemonsets', '--force', '--delete-emptydir-data', `--timeout=${patience}`);
    const [node] = (await this.#items('nodes')).filter(({ metadata }) => metadata.name === first);
    assert.equal(node?.spec?.unschedulable, true);
    const left = (await this.#items('pods', `--field-selector=spec.nodeName=${first}`)).map(({ metadata }) => metadata.name);
    assert.ok(
      left.every((name) => name.startsWith('agent-')),
      `only daemons are left: ${left.join(', ')}`,
    );
    await this.#kubectl('uncordon', first);
    await this.#kubectl('cordon', second);
    await this.#kubectl('uncordon', second);
    await this.#kubectl('taint', 'nodes', third, 'dedicated=build:NoSchedule');
    await this.#kubectl('taint', 'nodes', third, 'dedicated:NoSchedule-');
  }

  async #applyAndAccess(): Promise<void> {
    const first = this.#file('first.yaml', settings('first', '1'));
    await this.#kubectl('apply', '--server-side', '-f', first);
    assert.equal(await this.#exitCode('diff', '--server-side', '-f', first), 0);
    assert.equal(await this.#exitCode('diff', '--server-side', '-f', this.#file('first-2.yaml', settings('first', '2'))), 1);
    const both = this.#file('both.yaml', `${settings('second', '1')}---${settings('third', '1')}`);
    await this.#kubectl('apply', '-f', both);
    const prune = ['--prune', '-l', 'set=settings', '--prune-allowlist=core/v1/ConfigMap'];
    await this.#kubectl('apply', '-f', this.#file('third.yaml', settings('third', '1')), ...prune);
    assert.deepEqual((await this.#items('configmaps', '-l', 'set=settings')).map(({ metadata }) => metadata.name).sort(), [
      'first',
      'third',
    ]);
    await this.#kubectl('auth', 'reconcile', '-f', this.#file('role.yaml', role));
    const token = (await this.#kubectl('create', 'token', 'default')).trim();
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const file = this.#file('review.json', JSON.stringify(review));
    const user = await this.#kubectl('create', '-f', file, '-o', 'jsonpath={.status.user.username}');
    assert.equal(user, 'system:serviceaccount:default:default');
  }

  async #step(step: string, work: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    try {
      await work();
    } catch (cause) {
      throw new Error(`${step}: ${(cause as Error).message}`, { cause });
    }
    this.times.push({ step, seconds: (performance.now() - began) / 1000 });
  }

  async #until(what: string, isSo: () => Promise<boolean>, seconds = 60): Promise<void> {
    const end = performance.now() + seconds * 1000;
    while (!(await isSo())) {
      if (performance.now() > end) throw new Error(`timed out after ${seconds} s: ${what}`);
      await sleep(100);
    }
  }

  async #items(...args: string[]): Promise<readonly Item[]> {
    return (JSON.parse(await this.#kubectl('get', ...args, '-o', 'json')) as { readonly items: readonly Item[] }).items;
  }

  #file(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }

  #kubectl(...args: string[]): Promise<string> {
    return this.#run(this.#tools.kubectl, args);
  }

  #helm(...args: string[]): Promise<string> {
    return this.#run(this.#tools.helm, args);
  }

  #run(tool: string, args: readonly string[]): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    execFile(tool, args, { env: this.#environment, cwd: this.#folder }, (error, stdout, stderr) =>
      error ? reject(new Error(`${args.join(' ')}: ${stderr || stdout}`)) : resolve(stdout),
    );
    return promise;
  }

  #exitCode(...args: string[]): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    execFile(this.#tools.kubectl, args, { env: this.#environment, cwd: this.#folder }, (error) => resolve(Number(error?.code ?? 0)));
    return promise;
  }
}
