import { ConfigurationError } from 'kubenest/sdk/configuration';
import { newFilters } from '../filters.ts';
import type { Filter, Score } from '../framework/framework.ts';
import type { Profile } from '../profile.ts';
import type { BackOff } from '../queue/back-off.ts';
import { newScores } from '../scores.ts';
import { readArguments } from './plugin-arguments.ts';
import type { PluginReference, PluginSet, ProfilePlugins, SchedulerConfiguration, SchedulerProfile } from './scheduler-configuration.ts';

/** Plugins of upstream without a choice here: they always run. */
const fixed = ['SchedulingGates', 'PrioritySort', 'DefaultBinder'];
const preemption = 'DefaultPreemption';

export interface CompiledConfiguration {
  readonly profiles: readonly Profile[];
  readonly backOff: BackOff;
}

/** Compiles a configuration. Throws a ConfigurationError with all problems. */
export function compileConfiguration(configuration: SchedulerConfiguration): CompiledConfiguration {
  const { podInitialBackoffSeconds: initial, podMaxBackoffSeconds: max } = configuration;
  const problems: string[] = [];
  if (max < initial) problems.push('podMaxBackoffSeconds: must be greater than or equal to podInitialBackoffSeconds');
  if (configuration.profiles.length === 0) problems.push('profiles: at least one is required');
  const names = configuration.profiles.map(({ schedulerName }) => schedulerName);
  for (const [i, name] of names.entries())
    if (names.indexOf(name) < i) problems.push(`profiles[${i}].schedulerName: ${JSON.stringify(name)} is that of another profile`);
  const profiles = configuration.profiles.map((profile, i) => compileProfile(profile, `profiles[${i}]`, problems));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { profiles, backOff: { initialMs: initial * 1_000, maxMs: max * 1_000 } };
}

function compileProfile({ schedulerName, plugins, pluginConfig }: SchedulerProfile, place: string, problems: string[]): Profile {
  const args = readArguments(pluginConfig, `${place}.pluginConfig`, problems);
  const [filters, scores] = [newFilters(args), newScores(args)];
  const known = new Set([...fixed, preemption, ...filters.map(({ name }) => name), ...scores.map(({ name }) => name)]);
  for (const [point, set] of Object.entries(plugins) as [keyof ProfilePlugins, PluginSet][])
    problems.push(...problemsOf(set, known, `${place}.plugins.${point}`));
  // The default plugins of all points, in the order of the filters and then of the scores.
  const defaults = [...new Set([...filters, ...scores, { name: preemption }].map(({ name }) => name))].map((name) => ({ name }));
  const everywhere = merged(defaults, plugins.multiPoint);
  const at = (set: PluginSet): readonly PluginReference[] => {
    const isDisabled = (name: string): boolean => set.disabled.some((one) => one.name === '*' || one.name === name);
    const others = everywhere.filter(({ name }) => !isDisabled(name) && !set.enabled.some((one) => one.name === name));
    return [...set.enabled, ...others];
  };
  return {
    schedulerName,
    filters: at(plugins.filter).flatMap(({ name }) => filters.filter((filter) => filter.name === name)) satisfies Filter[],
    scores: at(plugins.score).flatMap((reference) => scores.filter(({ name }) => name === reference.name).map(weighted(reference))),
    preempts: at(plugins.postFilter).some(({ name }) => name === preemption),
  };
}

const weighted =
  ({ weight }: PluginReference) =>
  (score: Score): Score =>
    weight ? { ...score, weight } : score;

/** Returns the default plugins with the changes of a set: replaced in place, without the disabled ones, then the others. */
function merged(defaults: readonly PluginReference[], { enabled, disabled }: PluginSet): readonly PluginReference[] {
  const kept = defaults.filter(({ name }) => !disabled.some((one) => one.name === '*' || one.name === name));
  const replaced = kept.map((one) => enabled.find(({ name }) => name === one.name) ?? one);
  return [...replaced, ...enabled.filter(({ name }) => !kept.some((one) => one.name === name))];
}

function problemsOf({ enabled, disabled }: PluginSet, known: ReadonlySet<string>, place: string): string[] {
  const unknown = enabled.filter(({ name }) => !known.has(name));
  const needed = disabled.filter(({ name }) => fixed.includes(name));
  return [
    ...unknown.map(({ name }) => `${place}.enabled: this scheduler has no plugin ${JSON.stringify(name)}`),
    ...needed.map(({ name }) => `${place}.disabled: ${name} cannot be disabled`),
  ];
}
