import type { Container } from 'inversify';
import type { AdmissionHandler } from '#apiserver/admission/attributes';
import { guardAdmission } from '#apiserver/plugins/guard-admission';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { PluginFailures, PluginName } from '#apiserver/plugins/plugin-failures';
import type { ExceptionObjects } from '#apiserver/plugins/policy/exception-objects';
import { defaultPolicy, type PluginPolicy } from '#apiserver/plugins/policy/plugin-policy';
import { PolicyControl, policyServices } from '#apiserver/plugins/policy/policy-control';
import type { Contributions } from './contributions.ts';

interface Made {
  readonly contribution: LoadedContribution;
  readonly plugin: AdmissionHandler;
  readonly guarded: AdmissionHandler;
}

/** Admission plugins of packages behind their guards. Their policies and configurations can be replaced. */
export class PackageAdmission {
  #made: readonly Made[];
  readonly #failures: PluginFailures;

  /**
   * `exceptions`: those that are API objects; undefined if they are not served. Throws an error that names a plugin which cannot be
   * created.
   */
  constructor(
    private readonly services: Container,
    private readonly contributions: Contributions,
    private readonly exceptions?: ExceptionObjects,
  ) {
    this.#failures = contributions.failures(services);
    this.#made = contributions.of('AdmissionPlugin').map((contribution) => this.#make(contribution));
  }

  get plugins(): AdmissionHandler[] {
    return this.#made.map(({ guarded }) => guarded);
  }

  /**
   * Replaces the plugins whose contribution changed. `use` receives the new plugin of each replaced one, after all could be created.
   * Throws, and changes nothing, if one cannot be created. The instances that are no longer used are disposed of once `unused` resolves.
   */
  replace(
    contributions: readonly LoadedContribution[],
    use: (replacements: ReadonlyMap<AdmissionHandler, AdmissionHandler>) => void,
    unused: () => Promise<void>,
  ): void {
    const before = this.#made;
    const next = this.#remadeAll(contributions);
    use(new Map(next.map(({ guarded }, i) => [(before[i] as Made).guarded, guarded])));
    this.#made = next;
    this.contributions.replace(contributions);
    const replaced = before.filter(({ plugin }, i) => next[i]?.plugin !== plugin).map(({ plugin }) => plugin);
    if (replaced.length > 0) void unused().then(() => this.#disposeOf(replaced));
  }

  /** Creates the plugins whose contribution changed. Disposes of the new ones if one of them cannot be created. */
  #remadeAll(contributions: readonly LoadedContribution[]): Made[] {
    const next: Made[] = [];
    try {
      for (const before of this.#made) {
        const { kind, options } = before.contribution.described;
        const found = contributions.find(({ described }) => described.kind === kind && described.options.name === options.name);
        next.push(found ? this.#remade(before, found) : before);
      }
      return next;
    } catch (error) {
      void this.#disposeOf(next.map(({ plugin }) => plugin).filter((plugin, i) => plugin !== this.#made[i]?.plugin));
      throw error;
    }
  }

  async #disposeOf(plugins: readonly AdmissionHandler[]): Promise<void> {
    await Promise.all(plugins.map(async (plugin) => this.contributions.instances?.dispose(plugin)));
  }

  #make(contribution: LoadedContribution): Made {
    const plugin = this.contributions.instantiate(contribution, this.services) as AdmissionHandler;
    return { contribution, plugin, guarded: this.#guarded(plugin, contribution) };
  }

  /** The instance is kept if only its policy changed. */
  #remade({ contribution, plugin }: Made, next: LoadedContribution): Made {
    if (next.configuration !== contribution.configuration) return this.#make(next);
    return { contribution: next, plugin, guarded: this.#guarded(plugin, next) };
  }

  #guarded(made: AdmissionHandler, { described, guard, origin, policy }: LoadedContribution): AdmissionHandler {
    const plugin = { sort: 'admission plugin', name: described.options.name, package: origin?.package };
    const usage = this.contributions.usage.of(plugin);
    return guardAdmission(made, guard, this.#failures, { origin, policy: this.#control(plugin, policy), usage });
  }

  /** A plugin without a package has no exceptions that are API objects. */
  #control(plugin: PluginName, policy: PluginPolicy | undefined): PolicyControl | undefined {
    const exceptions = plugin.package === undefined ? undefined : this.exceptions;
    if (!policy && !exceptions) return undefined;
    return new PolicyControl(policy ?? defaultPolicy, plugin, policyServices(this.services, this.#failures, exceptions));
  }
}
