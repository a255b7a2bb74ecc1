import { contributionOf, contributionsOf, type LoadedContribution } from '../loaded-contribution.ts';
import { exceptionApis } from './exception-group.ts';

/**
 * Returns the API group of exceptions for the admission plugins of packages; nothing if there are none, so that the APIs of a server
 * without packages are those of kube-apiserver.
 */
export function exceptionContributions(loaded: readonly LoadedContribution[]): LoadedContribution[] {
  const plugins = contributionsOf(loaded, 'AdmissionPlugin')
    .filter(({ origin }) => origin)
    .map(({ described }) => described.options.name);
  return plugins.length === 0 ? [] : [contributionOf(exceptionApis(plugins))];
}
