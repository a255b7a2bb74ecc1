import { Authority } from '#cmd/certificates/issue';
import type { ServingCertificate } from '#apiserver/serving/secure-server';

/** Returns a certificate for 127.0.0.1 and localhost with its CA, created once per process. */
export function issueServingCertificate(): Promise<ServingCertificate & { readonly certificateAuthority: string }> {
  return (issued ??= issue());
}

let issued: ReturnType<typeof issueServingCertificate> | undefined;

async function issue(): Promise<ServingCertificate & { readonly certificateAuthority: string }> {
  const authority = await Authority.create('kubenest-test-ca');
  const pair = await authority.issue({ commonName: 'kubenest-test', names: ['localhost', '127.0.0.1'], usages: ['server'] });
  return { ...pair, certificateAuthority: authority.pair.cert };
}
