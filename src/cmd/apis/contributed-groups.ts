import {
  checkGroups,
  completeDefinition,
  contributedConverter,
  contributedDefinition,
} from '#apiextensions-apiserver/server/contributed-definition';
import { ServedDefinition } from '#apiextensions-apiserver/server/served-definition';
import { CustomDocuments } from '#apiextensions-apiserver/openapi/custom-documents';
import { rulesOf } from '#apiextensions-apiserver/cel/rules-of';
import type { GroupResource } from '#apimachinery/meta/types';
import { groupVersionString } from '#apimachinery/meta/types';
import type { Installer } from '#apiserver/endpoints/installer';
import { guardActions } from '#apiserver/plugins/guard-actions';
import type { PluginFailures } from '#apiserver/plugins/plugin-failures';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { ContributedGroupOptions } from '#apiserver/registry/contributed-group';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { Store } from '#apiserver/registry/store';
import type { ResourceConfig } from '#apiserver/server/resource-config';
import type { ApiServerTarget } from '#apiserver/server/api-server-target';
import type { InstalledEndpoint } from '#apiserver/endpoints/installed-endpoint';
import type { Published } from '#cmd/serving/non-resource-routes';

/** Priority of custom resources, after all built-in groups. */
const groupPriorityMinimum = 1000;
/** Priority of the preferred version; each other version has a lower priority than the one before it. */
const highestVersionPriority = 100;

interface ContributedGroupsParts {
  /** Names of built-in groups. */
  readonly taken: ReadonlySet<string>;
  readonly storage: StorageFactory;
  readonly failures: PluginFailures;
  /** Selection of the enabled resources; all are enabled by default. */
  readonly resourceConfig: ResourceConfig;
}

interface ServedGroup {
  readonly group: ApiGroup;
  readonly resources: readonly ServedDefinition[];
}

/**
 * API groups of packages. Each resource is served like a custom resource whose definition exists from the start and never changes. It takes
 * precedence over custom resources of the same name.
 */
export class ContributedGroups implements Disposable {
  readonly #groups: readonly ServedGroup[];
  #installer: Installer | undefined;

  /** Throws an Error that names the plugin. */
  constructor(contributions: readonly LoadedContribution[], parts: ContributedGroupsParts) {
    const options = contributionsOf(contributions, 'ApiGroup').map((contribution) =>
      guardActions(contribution.described.options as ContributedGroupOptions, contribution, parts.failures),
    );
    checkGroups(options, parts.taken);
    this.#groups = options.map((one) => {
      try {
        return servedGroup(one, { ...parts, installer: () => this.#installed });
      } catch (cause) {
        throw new Error(`plugin ${one.name}: ${(cause as Error).message}`, { cause });
      }
    });
  }

  /** Groups of which at least one resource is served. */
  get groups(): readonly ApiGroup[] {
    return this.#groups.map(({ group }) => group).filter(({ versions }) => versions.length > 0);
  }

  /** `plural.group` of all resources. */
  get names(): ReadonlySet<string> {
    return new Set(this.#resources.map(({ crd }) => crd.metadata.name ?? ''));
  }

  /** Returns the store of a resource in its stored version; undefined if no package adds the resource. */
  storeOf({ group, resource }: GroupResource): Store | undefined {
    return this.#resources.find(({ crd }) => crd.metadata.name === `${resource}.${group}`)?.store;
  }

  /** Publishes the groups and serves them with endpoints that `installer` creates. */
  install(installer: Installer, target: ApiServerTarget, { discovery, openApi }: Published): void {
    this.#installer = installer;
    for (const { group, resources } of this.#groups) target.install(group, endpointsOf(group, resources));
    discovery.set('contributed', this.groups);
    openApi.set(
      'contributed',
      new CustomDocuments().of(this.#resources.flatMap(({ versions }) => versions.filter(({ served }) => served))),
    );
  }

  /** Resolves once the stored objects have been read or the read has failed. */
  async whenTried(): Promise<void> {
    await Promise.all(this.#resources.map(({ store }) => store.cacher.whenTried()));
  }

  [Symbol.dispose](): void {
    for (const served of this.#resources) served[Symbol.dispose]();
  }

  get #installed(): Installer {
    if (!this.#installer) throw new Error('the groups of packages are not installed yet');
    return this.#installer;
  }

  get #resources(): ServedDefinition[] {
    return this.#groups.flatMap(({ resources }) => resources);
  }
}

function servedGroup(
  { group, resources, ...options }: ContributedGroupOptions,
  { storage, resourceConfig, installer }: ContributedGroupsParts & { installer(): Installer },
): ServedGroup {
  const served = resources.map(
    (resource) =>
      new ServedDefinition(contributedDefinition({ group, ...options }, resource), {
        storage,
        rulesOf,
        get installer() {
          return installer();
        },
        get scale() {
          return installer().options.special.get('custom/scale') ?? {};
        },
        get computed() {
          return installer().options.special.get('custom/computed') ?? {};
        },
        get read() {
          return installer().options.special.get('custom/read') ?? {};
        },
        converterOf: () => contributedConverter(resource),
        complete: (version) =>
          completeDefinition({ ...version, served: resourceConfig.isEnabled({ ...version.definition, servedByDefault: true }) }, resource),
      }),
  );
  return {
    group: {
      group,
      versions: versionsOf(served).map((version, i) => ({ version, versionPriority: Math.max(highestVersionPriority - i, 1) })),
      groupPriorityMinimum: options.groupPriorityMinimum ?? groupPriorityMinimum,
      resources: served.flatMap((one) => one.resources),
    },
    resources: served,
  };
}

/** Returns the versions in the order of their first occurrence. */
function versionsOf(served: readonly ServedDefinition[]): string[] {
  return [...new Set(served.flatMap(({ resources }) => resources.map(({ version }) => version)))];
}

function endpointsOf({ group, versions }: ApiGroup, resources: readonly ServedDefinition[]): Map<string, Map<string, InstalledEndpoint>> {
  const all = new Map<string, Map<string, InstalledEndpoint>>();
  for (const { version } of versions) {
    const found = resources.flatMap((served) =>
      served.versions.filter((one) => one.served && one.definition.version === version).flatMap((one) => [...served.endpoints(one)]),
    );
    all.set(groupVersionString({ group, version }), new Map(found));
  }
  return all;
}
