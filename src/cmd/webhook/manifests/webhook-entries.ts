import { matchOf } from '#apiserver/admission/admission-plugin';
import type { AdmissionPluginOptions } from '#apiserver/admission/attributes';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { Scheme } from '#apiserver/registry/scheme';
import { matchTargets } from '#cmd/apis/match-problems';
import { namesInOrder, pathName } from '../webhook-plugins.ts';
import { rulesOf, type WebhookRule } from './webhook-rules.ts';

type Requirement = { readonly key: string; readonly operator: string; readonly values?: readonly string[] };

/** A label selector of the API. */
export interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly Requirement[];
}

/** A plugin with what its webhook depends on. */
export interface ServedPlugin {
  readonly contribution: LoadedContribution;
  /** Phases whose methods the plugin has. */
  readonly phases: readonly ('mutate' | 'validate')[];
  /** The member `scope` of its policy, as configured. */
  readonly scope?: PluginScope | undefined;
}

export interface PluginScope {
  readonly namespaces?: readonly string[];
  readonly excludedNamespaces?: readonly string[];
  readonly namespaceSelector?: Selector;
  readonly objectSelector?: Selector;
}

/** A webhook of a configuration, without its client configuration. */
export interface WebhookEntry {
  readonly name: string;
  /** Path of the webhook at the server. */
  readonly path: string;
  readonly rules: readonly WebhookRule[];
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchPolicy: 'Equivalent';
  readonly sideEffects: 'NoneOnDryRun';
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly ['v1'];
  readonly namespaceSelector?: Selector;
  readonly objectSelector?: Selector;
}

/** Longest timeout that the API allows. */
const mostSeconds = 30;
const nameLabel = 'kubernetes.io/metadata.name';

/**
 * Returns the webhooks of a phase, in the order in which the server calls its plugins. Plugins that follow each other and have the same
 * failure policy and the same selectors share a webhook, so that a request costs one call. `excluded`: namespaces whose requests do not
 * reach the webhooks.
 */
export function webhookEntries(
  phase: 'mutate' | 'validate',
  plugins: readonly ServedPlugin[],
  scheme: Scheme,
  excluded: readonly string[],
): WebhookEntry[] {
  const order = namesInOrder(plugins.map(optionsOf));
  const called = order
    .map((name) => plugins.find(({ contribution }) => contribution.described.options.name === name) as ServedPlugin)
    .filter(({ phases }) => phases.includes(phase));
  const targets = matchTargets(scheme, []);
  const runs = runsOf(called, excluded);
  const groups = runs.filter(({ length }) => length > 1);
  return runs.map((run) => {
    const [first] = run as [ServedPlugin];
    const names = run.map(({ contribution }) => pathName(contribution.described.options.name));
    const seconds = Math.max(...run.map(({ contribution }) => Math.ceil(contribution.guard.timeoutMs / 1_000) + 1));
    return {
      name: `${nameOf(names, groups.indexOf(run))}.${phase}.kubenest.dev`,
      path: `/${phase}/${names.join('/')}`,
      rules: rulesOf(
        run.flatMap((plugin) => matchOf(optionsOf(plugin), phase === 'mutate' ? 'admit' : 'validate')),
        scheme,
        targets,
      ),
      failurePolicy: first.contribution.guard.failurePolicy,
      matchPolicy: 'Equivalent',
      sideEffects: 'NoneOnDryRun',
      // The plugin's own timeout ends first, so that the answer names the plugin.
      timeoutSeconds: Math.min(seconds, mostSeconds),
      admissionReviewVersions: ['v1'],
      ...selectorsOf(first, excluded),
    };
  });
}

/**
 * Returns the first part of the name of a webhook, which clients see in each denial: the plugin, or for several plugins the position of
 * their webhook among such, so that no denial names a plugin that did not deny. Names of plugins have no dots here.
 */
function nameOf(plugins: readonly string[], position: number): string {
  return plugins.length === 1 ? (plugins[0] as string) : `group-${position + 1}.plugins`;
}

function optionsOf({ contribution }: ServedPlugin): AdmissionPluginOptions {
  return contribution.described.options as AdmissionPluginOptions;
}

/** Groups plugins that follow each other and can share a webhook. */
function runsOf(plugins: readonly ServedPlugin[], excluded: readonly string[]): ServedPlugin[][] {
  const runs: ServedPlugin[][] = [];
  let last: string | undefined;
  for (const plugin of plugins) {
    const traits = JSON.stringify([plugin.contribution.guard.failurePolicy, selectorsOf(plugin, excluded)]);
    if (traits === last) runs.at(-1)?.push(plugin);
    else runs.push([plugin]);
    last = traits;
  }
  return runs;
}

/**
 * Returns the part of a scope that selectors can express. The rest (patterns, users, groups) is checked by the server, as is the whole
 * scope for requests outside of namespaces, which every namespace selector matches.
 */
function selectorsOf(
  { scope = {} }: ServedPlugin,
  excluded: readonly string[],
): Pick<WebhookEntry, 'namespaceSelector' | 'objectSelector'> {
  const { namespaces, excludedNamespaces = [], namespaceSelector, objectSelector } = scope;
  const isExact = namespaces?.every((name) => !name.includes('*')) ?? false;
  const left = [...new Set([...excluded, ...excludedNamespaces.filter((name) => !name.includes('*'))])].sort();
  const matchExpressions: Requirement[] = [
    ...(namespaceSelector?.matchExpressions ?? []),
    ...(isExact && namespaces ? [{ key: nameLabel, operator: 'In', values: [...namespaces].sort() }] : []),
    ...(left.length > 0 ? [{ key: nameLabel, operator: 'NotIn', values: left }] : []),
  ];
  const matchLabels = namespaceSelector?.matchLabels;
  return {
    ...((matchExpressions.length > 0 || matchLabels) && {
      namespaceSelector: { ...(matchLabels && { matchLabels }), ...(matchExpressions.length > 0 && { matchExpressions }) },
    }),
    ...(objectSelector && { objectSelector }),
  };
}
