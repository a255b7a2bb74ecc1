import type { AdmissionPluginOptions } from '#apiserver/admission/attributes';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { ConfigurationError } from '#apiserver/plugins/read-configuration';
import type { ContributedGroupOptions } from '#apiserver/registry/contributed-group';
import type { Scheme } from '#apiserver/registry/scheme';
import { matchProblems, matchTargets } from './match-problems.ts';

/** Throws a ConfigurationError that names each admission plugin of a package that would never be called. */
export function refuseUseless(loaded: readonly LoadedContribution[], scheme: Scheme): void {
  const groups = contributionsOf(loaded, 'ApiGroup').map(({ described }) => described.options as ContributedGroupOptions);
  const plugins = contributionsOf(loaded, 'AdmissionPlugin');
  if (plugins.length === 0) return;
  const targets = matchTargets(scheme, groups);
  const problems = plugins.flatMap(({ described, origin }) => {
    const { name, match } = described.options as AdmissionPluginOptions;
    const subject = `${origin ? `plugin package ${origin.package}: ${origin.file === undefined ? '' : `${origin.file}: `}` : ''}admission plugin ${name}`;
    return matchProblems(match, targets).map((problem) => `${subject}: ${problem}`);
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}
