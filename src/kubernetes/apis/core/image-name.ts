import { memos } from '#apimachinery/runtime/memos';

/**
 * Names of container images: `registry.example.com:5000/team/app:1.2@sha256:…`. Upstream: pkg/util/parsers over
 * github.com/distribution/reference.
 */

const component = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const host = new RegExp(`^(?:${component}(?:\\.${component})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?$`);
const path = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const tagFormat = /^\w[\w.-]{0,127}$/;
const digestFormat = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
const hexId = /^[a-f0-9]{64}$/;
const maxNameLength = 255;
/** Maximum length of a name with tag and digest. Longer names are not parsed. */
const maxLength = 600;

/** Returns the tag of an image, `latest` if it has neither tag nor digest; empty if it has only a digest or is not a valid image name. */
export function imageTag(image: string): string {
  if (image.length > maxLength || hexId.test(image)) return '';
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const hasHost = first === 'localhost' || /[.:]/.test(first) || first.toLowerCase() !== first;
  let rest = hasHost ? image.slice(slash + 1) : image;
  const at = rest.indexOf('@');
  if (at >= 0) {
    if (!digestFormat.test(rest.slice(at + 1))) return '';
    rest = rest.slice(0, at);
  }
  const colon = rest.indexOf(':');
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  if (tag !== undefined && !tagFormat.test(tag)) return '';
  const name = colon < 0 ? rest : rest.slice(0, colon);
  if (!path.test(name) || (hasHost && !host.test(first)) || fullLength(hasHost ? first : '', name) > maxNameLength) return '';
  return tag ?? (at < 0 ? 'latest' : '');
}

/** Returns the length of the name with the registry and folder that a short name implies. */
function fullLength(registry: string, name: string): number {
  if (registry !== '' && registry !== 'index.docker.io' && registry !== 'docker.io') return registry.length + 1 + name.length;
  return 'docker.io/'.length + (name.includes('/') ? 0 : 'library/'.length) + name.length;
}

/** Cache of pull policies by image: pods of one workload have the same image. */
const policies = new Map<string, string>();
const policiesLimit = 2048;

/** Returns the default pull policy: `Always` for the tag latest, else `IfNotPresent`. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  let policy = memos.pullPolicies ? policies.get(image) : undefined;
  if (policy === undefined) {
    policy = imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
    if (policies.size >= policiesLimit) policies.clear();
    policies.set(image, policy);
  }
  return policy as 'Always' | 'IfNotPresent';
}
