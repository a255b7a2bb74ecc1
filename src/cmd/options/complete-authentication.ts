import { readText } from '#apiserver/base/system-error';
import { fingerprintOf } from '#apimachinery/x509/certificate';
import { readCertificates } from '#apimachinery/x509/certificate-pool';
import { publicKeysOf } from '#apiserver/authentication/public-keys';
import { readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import { frontProxyName } from '#cmd/certificates/own-certificates';
import { parseAuthenticationConfiguration, type AuthenticationConfiguration } from '#cmd/config/authentication-configuration';
import type { AuthenticationConfig, OidcConfig, ServiceAccountTokensConfig, TokenWebhookConfig } from '#cmd/server-config';
import { type RequestHeaderInfo, remoteUidGate } from '#kubernetes/controlplane/control-plane-options';
import type { JwtTokenIssuerOptions } from '#kubernetes/serviceaccount/jwt-token-issuer';
import { parsePasswordFile } from '#plugins/authentication/basic-auth';
import { parseBundle } from '#plugins/authentication/client-authorities';
import { parseTokenFile } from '#plugins/authentication/token-auth';
import type { AuthenticationOptions } from './authentication-options.ts';
import { delegatedTokens, lookUpAuthenticationInfo } from './complete-delegation.ts';
import type { OidcOptions } from './oidc-options.ts';
import type { ServerOptions } from './server-options.ts';

/** Trust configuration that must be complete before authentication is completed. */
export interface CompletedTrust {
  readonly clientCa: string | undefined;
  readonly issuer: JwtTokenIssuerOptions | undefined;
  /** Authority of front proxies that the server created itself. */
  readonly frontProxyCa: string | undefined;
}

/** Reads all authentication files. Rejects with the flags of invalid files, one problem per line. */
export async function authenticationOf(
  options: ServerOptions,
  { clientCa, issuer, frontProxyCa }: CompletedTrust,
): Promise<AuthenticationConfig> {
  const { authentication, serviceAccounts, oidc, delegation } = options;
  const problems: string[] = [];
  const collect = async <T>(flag: string, work: Promise<T | undefined>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      for (const line of (error as Error).message.split('\n')) problems.push(`--${flag}: ${line}`);
      return undefined;
    });
  const parsed = async <T>(file: string, parse: (text: string) => T): Promise<T | undefined> =>
    file === '' ? undefined : readText(file).then(parse);
  const structured: AuthenticationConfiguration | undefined = await collect(
    'authentication-config',
    parsed(authentication.authenticationConfig, (text) =>
      parseAuthenticationConfiguration(text, serviceAccounts.serviceAccountIssuer, {
        hasEgressSelector: options.features.gates().enabled('StructuredAuthenticationConfigurationEgressSelector'),
      }),
    ),
  );
  if (structured?.anonymous && options.isGiven('anonymous-auth'))
    problems.push(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    );
  const lookedUp = await collect('authentication-kubeconfig', lookUpAuthenticationInfo(delegation));
  const config: AuthenticationConfig = {
    anonymous: structured?.anonymous?.enabled ?? allowsAnonymous(options),
    anonymousPaths: structured?.anonymous?.paths,
    clientCa,
    delegatedClientCa: authentication.clientCaFile === '' ? lookedUp?.clientCa : undefined,
    tokens: await collect('token-auth-file', parsed(authentication.tokenAuthFile, parseTokenFile)),
    passwords: await collect('basic-auth-file', parsed(authentication.basicAuthFile, parsePasswordFile)),
    requestHeader:
      (await collect('requestheader-client-ca-file', requestHeaderOf(authentication))) ??
      lookedUp?.requestHeader ??
      ownRequestHeader(frontProxyCa, options.features.gates().enabled(remoteUidGate)),
    serviceAccounts: await collect('service-account-key-file', serviceAccountTokensOf(options, issuer)),
    bootstrapTokens: authentication.enableBootstrapTokenAuth,
    oidc: structured?.jwt ?? (await collect('oidc-ca-file', issuersOf(oidc))),
    webhook: await collect('authentication-token-webhook-config-file', webhookOf(authentication)),
    delegated: await collect('authentication-kubeconfig', delegatedTokens(delegation)),
    apiAudiences: serviceAccounts.apiAudiences.length > 0 ? serviceAccounts.apiAudiences : serviceAccounts.serviceAccountIssuer,
  };
  if (authentication.requestheaderAllowedNames.length === 0 && overlaps(clientCa, config.requestHeader?.clientCa))
    problems.push(overlapping);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return config;
}

/**
 * True if anonymous requests are allowed. AlwaysAllow disables them, because it authorizes every client. Upstream:
 * kubeapiserver/options/authentication.go (ApplyAuthorization).
 */
function allowsAnonymous({ authentication, authorization }: ServerOptions): boolean {
  return (
    authentication.anonymousAuth && !(authorization.authorizationConfig === '' && authorization.authorizationMode.includes('AlwaysAllow'))
  );
}

const overlapping =
  '--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users';

/** True if both bundles contain the same certificate. */
function overlaps(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const fingerprints = new Set(readCertificates(a).certificates.map(fingerprintOf));
  return readCertificates(b).certificates.some((certificate) => fingerprints.has(fingerprintOf(certificate)));
}

/** The issuer that the flags configure, as a list of at most one item. */
async function issuersOf(options: OidcOptions): Promise<OidcConfig[]> {
  const { oidcIssuerUrl: issuer, oidcUsernameClaim: claim, oidcUsernamePrefix: prefix, oidcGroupsClaim: groups } = options;
  if (issuer === '') return [];
  const ownPrefix = claim === 'email' ? '' : `${issuer}#`;
  return [
    {
      issuer,
      discoveryUrl: undefined,
      certificateAuthority: options.oidcCaFile === '' ? undefined : await readText(options.oidcCaFile),
      audiences: [options.oidcClientId],
      signingAlgorithms: options.oidcSigningAlgs,
      username: { claim, prefix: prefix === '-' ? '' : prefix || ownPrefix },
      groups: groups === '' ? undefined : { claim: groups, prefix: options.oidcGroupsPrefix },
      uid: undefined,
      extra: [],
      requiredClaims: options.oidcRequiredClaim,
      claimRules: [],
      userRules: [],
    },
  ];
}

async function webhookOf(options: AuthenticationOptions): Promise<TokenWebhookConfig | undefined> {
  const file = options.authenticationTokenWebhookConfigFile;
  if (file === '') return undefined;
  return {
    connection: await readKubeconfig(file),
    version: options.authenticationTokenWebhookVersion,
    cacheTtlMs: options.authenticationTokenWebhookCacheTtl,
  };
}

/** Configuration that verifies service account tokens; undefined without any key. */
async function serviceAccountTokensOf(
  { serviceAccounts: options }: ServerOptions,
  issuer: JwtTokenIssuerOptions | undefined,
): Promise<ServiceAccountTokensConfig | undefined> {
  const texts = await Promise.all(options.serviceAccountKeyFile.map((file) => readText(file)));
  // The server also accepts tokens of its own key beside those of the key files: no other server has that key.
  const { signingKey } = issuer ?? {};
  if (typeof signingKey === 'string' && (texts.length === 0 || options.serviceAccountSigningKeyFile === '')) texts.push(signingKey);
  const signer = typeof signingKey === 'object' ? signingKey : undefined;
  if ((texts.length === 0 && !signer) || options.serviceAccountIssuer.length === 0) return undefined;
  return {
    issuers: options.serviceAccountIssuer,
    keys: texts.flatMap(publicKeysOf),
    signer,
    audiences: options.apiAudiences.length > 0 ? options.apiAudiences : options.serviceAccountIssuer,
    lookup: options.serviceAccountLookup,
    jwksUri: options.serviceAccountJwksUri === '' ? undefined : options.serviceAccountJwksUri,
  };
}

async function requestHeaderOf(options: AuthenticationOptions): Promise<RequestHeaderInfo | undefined> {
  if (options.requestheaderClientCaFile === '') return undefined;
  return {
    clientCa: await readBundle(options.requestheaderClientCaFile),
    usernameHeaders: options.requestheaderUsernameHeaders,
    uidHeaders: options.requestheaderUidHeaders,
    groupHeaders: options.requestheaderGroupHeaders,
    extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
    allowedNames: options.requestheaderAllowedNames,
  };
}

/** Upstream's standard headers, with the name that kubeadm gives the server's front proxy. */
function ownRequestHeader(clientCa: string | undefined, namesUids: boolean): RequestHeaderInfo | undefined {
  if (clientCa === undefined) return undefined;
  return {
    clientCa,
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: namesUids ? ['X-Remote-Uid'] : [],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
    allowedNames: [frontProxyName],
  };
}

/** Reads and validates a bundle of certificate authorities. */
export async function readBundle(file: string): Promise<string> {
  const bundle = await readText(file);
  try {
    parseBundle(bundle);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
  return bundle;
}
