import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';

const apiServices: LoopbackTarget = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
const customResourceDefinitions: LoopbackTarget = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';
const ownGroup = 'apiregistration.k8s.io';
/** Priorities of custom resources, which come after all built-in groups. */
const customPriority = { groupPriorityMinimum: 1000, versionPriority: 100 };

/** `onstart` marks built-in groups, `true` custom resources, which may be added and removed. */
type Managed = 'onstart' | 'true';

interface Wanted {
  readonly managed: Managed;
  /** Without `group`, the core group. */
  readonly spec: {
    readonly group?: string;
    readonly version: string;
    readonly groupPriorityMinimum: number;
    readonly versionPriority: number;
  };
}

interface CustomResourceDefinition extends KubeObject {
  readonly spec?: { readonly group?: string; readonly versions?: readonly { readonly name?: string; readonly served?: boolean }[] };
}

/**
 * Registers the groups of this server as local APIServices. Objects without the label belong to users and are not changed; those with it
 * are created, updated and deleted as the served groups change. Upstream: kube-aggregator/pkg/controllers/autoregister,
 * controlplane/controller/crdregistration.
 */
export class Autoregistration {
  #syncing: Promise<void> = Promise.resolve();

  constructor(
    readonly client: LoopbackClient,
    readonly groups: readonly ApiGroup[],
  ) {}

  /** Syncs all APIServices of both kinds. It runs once, at start. */
  syncAll(): Promise<void> {
    return this.#inTurn(async () => {
      const wanted = new Map([...this.#builtIn(), ...this.#custom()]);
      const present = this.client
        .peekAll(apiServices)
        .filter((one) => isManaged(one))
        .map(({ metadata }) => metadata.name ?? '');
      await Promise.all([...new Set([...wanted.keys(), ...present])].map((name) => this.#sync(name, wanted.get(name))));
    });
  }

  /** Syncs the APIServices of custom resources after a change of definitions or APIServices. */
  syncCustom(): Promise<void> {
    return this.#inTurn(async () => {
      const wanted = this.#custom();
      const present = this.client
        .peekAll(apiServices)
        .filter((one) => isManaged(one, 'true'))
        .map(({ metadata }) => metadata.name ?? '');
      await Promise.all([...new Set([...wanted.keys(), ...present])].map((name) => this.#sync(name, wanted.get(name))));
    });
  }

  /** Syncs when a definition is added, changed or deleted. Changes of one event loop turn are batched. */
  watch(onError: (error: unknown) => void): Disposable {
    let pending = false;
    return this.client.informer(customResourceDefinitions).subscribe(() => {
      if (pending) return;
      pending = true;
      setImmediate(() => {
        pending = false;
        this.syncCustom().catch(onError);
      });
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#syncing.then(work);
    this.#syncing = turn.catch(() => {});
    return turn;
  }

  async #sync(name: string, wanted: Wanted | undefined): Promise<void> {
    const { client } = this;
    const present = client.peek(apiServices, '', name);
    if (!present) {
      if (wanted) {
        await client.ensure(apiServices, {
          apiVersion: 'apiregistration.k8s.io/v1',
          kind: 'APIService',
          metadata: { name, labels: { [managedLabel]: wanted.managed } },
          spec: wanted.spec,
        });
      }
    } else if (isManaged(present)) {
      if (!wanted) await client.delete(apiServices, '', name);
      else if (!deepEqual(present['spec'], wanted.spec))
        await client.update(apiServices, '', name, (object) => ({ ...object, spec: wanted.spec }));
    }
  }

  #builtIn(): Map<string, Wanted> {
    return new Map(
      this.groups
        .filter(({ group }) => group !== ownGroup)
        .flatMap(({ group, groupPriorityMinimum, versions }) =>
          versions.map(
            ({ version, versionPriority }) =>
              [
                `${version}.${group}`,
                { managed: 'onstart', spec: { ...(group && { group }), version, groupPriorityMinimum, versionPriority } },
              ] as const,
          ),
        ),
    );
  }

  #custom(): Map<string, Wanted> {
    const wanted = new Map<string, Wanted>();
    for (const { spec } of this.client.peekAll(customResourceDefinitions) as CustomResourceDefinition[]) {
      for (const { name: version = '', served } of spec?.versions ?? []) {
        const group = spec?.group ?? '';
        if (served) wanted.set(`${version}.${group}`, { managed: 'true', spec: { group, version, ...customPriority } });
      }
    }
    return wanted;
  }
}

function isManaged({ metadata }: KubeObject, managed?: Managed): boolean {
  const label = metadata.labels?.[managedLabel];
  return managed === undefined ? label === 'onstart' || label === 'true' : label === managed;
}
