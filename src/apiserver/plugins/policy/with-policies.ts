import { ConfigurationError } from '../read-configuration.ts';
import type { LoadedContribution } from '../loaded-contribution.ts';
import type { PluginPolicy } from './plugin-policy.ts';

/** Returns the contributions of a package with their policies. Throws a ConfigurationError for a policy without an admission plugin. */
export function withPolicies(
  contributions: readonly LoadedContribution[],
  policies: ReadonlyMap<string, PluginPolicy>,
): LoadedContribution[] {
  const plugins = contributions
    .filter(({ described }) => described.kind === 'AdmissionPlugin')
    .map(({ described }) => described.options.name);
  const problems = [...policies.keys()]
    .filter((name) => !plugins.includes(name))
    .map((name) => `policies.${name} names no admission plugin that is loaded (${plugins.join(', ') || 'none is'})`);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return contributions.map((contribution) => ({ ...contribution, policy: policies.get(contribution.described.options.name) }));
}
