import { Buffer } from 'node:buffer';
import { checkRoute } from '#apiserver/endpoints/handlers/negotiation';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import { keyIdOf } from '#apiserver/authentication/public-keys';
import type { Handler } from '#apiserver/request/request-context';
import type { GenericServer } from '#apiserver/server/generic-server';
import { type OpenIdMetadata, openIdMetadata, type PublishedKey } from '#kubernetes/serviceaccount/open-id-metadata';
import { type AddressConfig, externalAddress } from './external-address.ts';
import type { Log } from '#cmd/logging/log';
import type { ServiceAccountTokensConfig } from '#cmd/server-config';

const keySetPath = '/openid/v1/jwks';

/**
 * Serves the documents that clients need to verify service account tokens. As upstream, an issuer that is not valid for OpenID is logged
 * and nothing is served. Upstream: kubernetes/pkg/routes/openidmetadata.go.
 */
export function installOpenIdRoutes(
  server: GenericServer,
  config: ServiceAccountTokensConfig,
  log: Pick<Log, 'warn'>,
  addresses: AddressConfig,
): void {
  const [issuer = ''] = config.issuers;
  const metadata = (): OpenIdMetadata =>
    openIdMetadata(issuer, config.jwksUri ?? `https://${externalAddress(addresses, server.address)}${keySetPath}`, publishedKeys(config));
  try {
    metadata();
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'the service account keys are not published');
    return;
  }
  const serve =
    (contentType: string, document: keyof OpenIdMetadata): Handler =>
    (context) => {
      checkRoute(context.header('accept'), [contentType]);
      const { headers } = context;
      const present = headers.indexOf('Cache-Control');
      if (present >= 0) headers.splice(present, 2);
      headers.push('Cache-Control', `public, max-age=${config.signer?.secondsToRefresh ?? 3600}`);
      respondBytes(context, 200, contentType, Buffer.from(metadata()[document]));
    };
  server.mux.handleDocument('/.well-known/openid-configuration', serve('application/json', 'configuration'));
  server.mux.handleDocument(keySetPath, serve('application/jwk-set+json', 'keySet'));
}

function publishedKeys({ keys, signer }: ServiceAccountTokensConfig): PublishedKey[] {
  if (signer) return signer.keys.filter(({ isRetired }) => !isRetired);
  return keys.map((key) => ({ id: keyIdOf(key), key }));
}
