import { AdmissionPlugin as declareAdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { AdmissionMatch, AdmissionPluginOptions, Attributes } from '#apiserver/admission/attributes';
import type { KubeObject } from '#apimachinery/meta/types';
import type { PluginClass } from '#apiserver/base/contribution';
import type { Kind, KindFacts, OfType, TypeOf } from '#apiserver/registry/kind';
import type { BuiltInResources } from '../built-in-resources.gen.ts';

/** Match of the requests for one kind: the compiler knows the type of their objects. */
export interface KindMatch<T> extends AdmissionMatch, OfType<T> {}

/** Returns a match of requests for a kind: `requestsFor(Deployment, 'CREATE', 'UPDATE')`. */
export function requestsFor<T, Facts extends KindFacts>(
  { group, resource }: Kind<T, Facts>,
  ...operations: [Facts['operations'], ...Facts['operations'][]]
): KindMatch<T> {
  return { groups: [group], resources: [resource], operations };
}

/** Returns a match of requests for a subresource: `subresourceRequestsFor(Deployment, 'scale', 'UPDATE')`. */
export function subresourceRequestsFor<T, Facts extends KindFacts, Name extends keyof Facts['subresources'] & string>(
  { group, resource }: Kind<T, Facts>,
  subresource: Name,
  ...operations: [Facts['subresources'][Name]['operations'], ...Facts['subresources'][Name]['operations'][]]
): KindMatch<Facts['subresources'][Name]['object']> {
  return { groups: [group], resources: [resource], subresources: [subresource], operations };
}

/** Names of resources that a match may have: those of its groups, if these are built-in; of all built-in groups, if it names none. */
type ResourcesOf<Match> = Match extends { readonly groups: readonly (infer Group)[] }
  ? [Group] extends [keyof BuiltInResources]
    ? BuiltInResources[Group] | '*'
    : string
  : BuiltInResources[keyof BuiltInResources] | '*';

/** A match whose resources exist. Names that the compiler does not know are checked when the server starts. */
type Checked<Match extends AdmissionMatch> = string extends Match['resources'][number]
  ? unknown
  : AdmissionMatch & { readonly resources: readonly ResourcesOf<Match>[] };

/** A class whose methods take the objects that its `match` selects. */
type PluginFor<T extends KubeObject> = PluginClass<{
  admit?(request: Attributes<T>): void | Promise<void>;
  validate?(request: Attributes<T>): void | Promise<void>;
}>;
type ObjectOf<Match> = TypeOf<Match, KubeObject> extends infer T extends KubeObject ? T : KubeObject;

/** Declares a class as an admission plugin. `admit` and `validate` are called only for requests that `match` selects. */
export function AdmissionPlugin<const Match extends readonly AdmissionMatch[]>(
  options: Omit<AdmissionPluginOptions, 'match'> & { readonly match: { readonly [I in keyof Match]: Match[I] & Checked<Match[I]> } },
): (type: PluginFor<ObjectOf<Match[number]>>) => void {
  return declareAdmissionPlugin(options) as (type: object) => void;
}
