import { Scheme } from '#apiserver/registry/scheme';
import { apiGroups } from '#cmd/apis/api-groups';

/** Returns all kinds that the server knows, in all of their versions. */
export function knownScheme(): Scheme {
  const scheme = new Scheme();
  for (const builder of Object.values(apiGroups([]))) builder.addToScheme(scheme);
  return scheme;
}
