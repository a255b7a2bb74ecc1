import type { UserInfo } from '#apiserver/request/user-info';
import type { Authorizer } from './authorizer.ts';

/**
 * Returns true if a user may perform a verb on a signer, either by its name or by all names of its domain (`example.com/*`).
 * Upstream: kubernetes/pkg/certauthorization.
 */
export async function isAuthorizedForSignerName(
  authorizer: Authorizer,
  user: UserInfo,
  verb: string,
  signerName: string,
): Promise<boolean> {
  const domain = signerName.split('/', 1)[0] ?? '';
  for (const name of [signerName, `${domain}/*`]) {
    const { decision } = await authorizer.authorize({
      user,
      verb,
      isResourceRequest: true,
      apiGroup: 'certificates.k8s.io',
      apiVersion: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      path: '',
    });
    if (decision === 'Allow') return true;
  }
  return false;
}
