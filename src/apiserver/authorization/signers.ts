import type { UserInfo } from '#apiserver/request/user-info';
import type { Authorizer } from './authorizer.ts';

/**
 * Whether a user may do something with a signer's certificates: with this signer, or with all of its domain
 * (`example.com/*`). Upstream: kubernetes/pkg/certauthorization.
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
