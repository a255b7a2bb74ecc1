import { deepEqual } from '#apimachinery/runtime/equality';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { ConfigurationError } from '#apiserver/plugins/read-configuration';
import { OptionsError } from './options-error.ts';
import type { PluginOptions, PluginPackageOptions } from './plugin-options.ts';

/** Changed contributions of packages, ready to be applied. */
export interface PluginUpdate {
  readonly contributions: readonly LoadedContribution[];
  /** Makes the update the base of the next one. */
  applied(): void;
}

/** Members of a package that can change without a restart. */
const reloadable: readonly (keyof PluginPackageOptions)[] = ['configuration', 'policies'];

/** Reads changes of the `policies` and the `configuration` of loaded packages. */
export class PluginReload {
  #packages: readonly PluginPackageOptions[];
  #contributions: readonly LoadedContribution[];

  /** `readOptions` reads the configuration file again; it rejects with all problems of the file. */
  constructor(
    { packages }: PluginOptions,
    contributions: readonly LoadedContribution[],
    private readonly readOptions: () => Promise<PluginOptions>,
  ) {
    this.#packages = packages;
    this.#contributions = contributions;
  }

  /** Rejects with all problems of the changed file, such as changes that require a restart. */
  async read(): Promise<PluginUpdate> {
    const options = await this.readOptions();
    const { packages, policies } = options;
    const fixed = fixedChanges(this.#packages, packages);
    if (fixed.length > 0) throw new OptionsError(fixed.map((place) => `${place}: a change requires a restart`));
    const { withPolicies } = await import('#apiserver/plugins/policy/with-policies');
    const problems: string[] = [];
    const contributions = packages.flatMap((entry, i) => {
      const own = this.#contributions.filter((contribution) => contribution.entry === i);
      try {
        return withPolicies(reconfigured(own, this.#packages[i]?.configuration, entry.configuration), policies[i] ?? new Map());
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        problems.push(...error.problems.map((problem) => `plugins[${i}]: ${problem}`));
        return own;
      }
    });
    if (problems.length > 0) throw new OptionsError(problems);
    return {
      contributions,
      applied: () => {
        this.#packages = packages;
        this.#contributions = contributions;
      },
    };
  }
}

/** Returns the places of changes that require a restart. */
function fixedChanges(before: readonly PluginPackageOptions[], after: readonly PluginPackageOptions[]): string[] {
  if (before.length !== after.length) return ['plugins'];
  return before.flatMap((entry, i) => {
    const next = after[i] as PluginPackageOptions;
    const members = new Set([...Object.keys(entry), ...Object.keys(next)] as (keyof PluginPackageOptions)[]);
    return [...members]
      .filter((member) => !reloadable.includes(member) && !deepEqual(entry[member], next[member]))
      .map((member) => `plugins[${i}].${member}`);
  });
}

type Configurations = Readonly<Record<string, unknown>> | undefined;

/** Returns the contributions with changed configurations. Throws a ConfigurationError. */
function reconfigured(contributions: readonly LoadedContribution[], before: Configurations, after: Configurations): LoadedContribution[] {
  const changed = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (name) => !deepEqual(before?.[name], after?.[name]),
  );
  const names = contributions.map(({ described }) => described.options.name);
  const unknown = changed.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new ConfigurationError(unknown.map((name) => `configuration.${name} names no plugin that is loaded`));
  return contributions.map((contribution) => {
    const { name } = contribution.described.options;
    if (!changed.includes(name)) return contribution;
    if (!contribution.reconfigure) throw new ConfigurationError([`configuration.${name}: a change requires a restart`]);
    return { ...contribution, ...contribution.reconfigure(after?.[name]) };
  });
}
