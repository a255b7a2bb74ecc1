import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type CollectedObject, normalise, type Outcome } from './normalise.ts';
import { pathOf } from './resources.ts';
import type { Manifest, Scenario, Step, Target, Wait } from './scenario.ts';

/** Sends a request as an administrator. */
export type Send = (path: string, request?: SentRequest) => Promise<{ readonly status: number; readonly body: unknown }>;

interface SentRequest {
  readonly method?: string;
  readonly body?: object;
  readonly contentType?: string;
}

/** The cluster of a player: the name of one of its three nodes, which `$NODE` stands for, and its speed. */
export interface Site {
  readonly node: string;
  /** Milliseconds between two checks of a condition. */
  readonly poll: number;
  /** Milliseconds in which a wait must end. */
  readonly patience: number;
}

/** Plays one scenario on a server. */
export class Player {
  constructor(
    readonly send: Send,
    readonly scenario: Scenario,
    readonly site: Site,
  ) {}

  /** UID of the last object that the scenario created. */
  #lastUid = '';

  get #namespace(): string {
    return this.scenario.name;
  }

  /** Runs all steps. Rejects if a request is refused, or a wait lasts too long. */
  async run(): Promise<void> {
    for (const manifest of this.scenario.setup ?? []) await this.#share(manifest);
    await this.#create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } });
    await this.#wait({ kind: 'ServiceAccount', name: 'default' });
    for (const step of this.scenario.steps) await this.#step(this.#substitute(step));
  }

  /** Returns the present state of what the scenario compares. */
  async outcome(): Promise<Outcome> {
    const collected: CollectedObject[] = [];
    for (const target of this.scenario.collect) {
      const resolved = this.#substitute(typeof target === 'string' ? { kind: target } : target);
      collected.push(...(await this.#find(resolved)).map((object) => ({ kind: resolved.kind, object })));
    }
    const events = await this.#find({ kind: 'Event' });
    return normalise(
      collected,
      events.map((object) => ({ kind: 'Event', object })),
    );
  }

  /** Waits until two outcomes `ms` apart are equal, and returns the last one. */
  async settled(ms: number): Promise<Outcome> {
    for (let last = await this.outcome(), left = 10; ; left -= 1) {
      await sleep(ms);
      const next = await this.outcome();
      if (isDeepStrictEqual(last, next) || left === 0) return next;
      last = next;
    }
  }

  /** Removes the pods of the scenario and the taints and zones of the nodes, so that others find the nodes empty. */
  async clear(): Promise<void> {
    for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'Pod'])
      await this.#request('DELETE', pathOf(kind, this.#namespace), { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
    await this.#wait({ kind: 'Pod', count: 0 });
    const nodes = { kind: 'Node', selector: 'kubernetes.io/os=linux' };
    for (const name of await this.#names(nodes))
      await this.#request('PATCH', this.#path(nodes, name), {
        metadata: { labels: { 'topology.kubernetes.io/zone': null } },
        spec: { taints: null, unschedulable: null },
      });
  }

  async #step(step: Step): Promise<void> {
    if (step.create) for (const manifest of [step.create].flat() as Manifest[]) await this.#create(manifest);
    if (step.patch) {
      const { subresource, first, body } = step.patch;
      const names = await this.#names(step.patch);
      for (const name of names.slice(0, first)) await this.#request('PATCH', this.#path(step.patch, name, subresource), body);
    }
    if (step.delete)
      for (const name of await this.#names(step.delete))
        await this.#request('DELETE', this.#path(step.delete, name), step.delete.options ?? {});
    if (step.post) await this.#request('POST', this.#path(step.post, step.post.name, step.post.subresource), step.post.body);
    if (step.wait) await this.#wait(step.wait);
    if (step.pause) await sleep(step.pause * 1_000);
  }

  async #create(manifest: Manifest): Promise<void> {
    const namespace = manifest.metadata.namespace ?? this.#namespace;
    const created = (await this.#request('POST', pathOf(manifest.kind, namespace), manifest)) as { metadata: { uid: string } };
    this.#lastUid = created.metadata.uid;
  }

  /** Creates an object that another scenario may have created. */
  async #share(manifest: Manifest): Promise<void> {
    const { status, body } = await this.send(pathOf(manifest.kind, ''), { method: 'POST', body: manifest });
    if (status >= 300 && status !== 409) throw new Error(`${this.scenario.name}: ${status} ${JSON.stringify(body)}`);
  }

  async #request(method: string, path: string, body: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await this.send(path, { method, body, contentType });
    if (answer.status >= 300) throw new Error(`${this.scenario.name}: ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #wait(wait: Wait): Promise<void> {
    const end = Date.now() + this.site.patience;
    for (;;) {
      const found = await this.#find(wait);
      const matching = found.filter((object) => contains(object, wait.until ?? {}));
      if (wait.count === undefined ? matching.length > 0 : matching.length === wait.count) return;
      if (Date.now() > end)
        throw new Error(`${this.scenario.name}: no end of ${JSON.stringify(wait)}: ${JSON.stringify(found).slice(0, 3_000)}`);
      await sleep(this.site.poll);
    }
  }

  async #names(target: Target): Promise<string[]> {
    if (target.name !== undefined) return [target.name];
    const objects = (await this.#find(target)) as Manifest[];
    return objects.map(({ metadata }) => metadata.name).sort();
  }

  async #find(target: Target): Promise<object[]> {
    const query = target.selector === undefined ? '' : `?labelSelector=${encodeURIComponent(target.selector)}`;
    const { status, body } = await this.send(this.#path(target, target.name) + query);
    if (status === 404) return [];
    return target.name === undefined ? ((body as { items?: object[] }).items ?? []) : [body as object];
  }

  #path({ kind, namespace }: Target, name?: string, subresource?: string): string {
    return pathOf(kind, namespace ?? this.#namespace, name) + (subresource === undefined ? '' : `/${subresource}`);
  }

  #substitute<T>(value: T): T {
    const text = JSON.stringify(value)
      .replaceAll('$NS', this.#namespace)
      .replaceAll('$UID', this.#lastUid)
      .replaceAll('$NODE', this.site.node)
      .replaceAll(/\$NOW(-\d+)?/g, (_, offset: string | undefined) => timeAt(Number(offset ?? 0)));
    return JSON.parse(text) as T;
  }
}

function timeAt(offset: number): string {
  return new Date(Date.now() + offset * 1_000).toISOString().replace(/\.\d+/, '');
}

/** Returns true if `value` has all members of `part`; each item of an array in `part` must be contained in an item of `value`. */
function contains(value: unknown, part: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(value) && part.every((item) => value.some((candidate) => contains(candidate, item)));
  if (typeof part !== 'object' || part === null) return value === part || (part === null && value === undefined);
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(part).every(([key, item]) => contains((value as Record<string, unknown>)[key], item))
  );
}
