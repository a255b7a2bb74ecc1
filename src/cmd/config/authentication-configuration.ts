import { X509Certificate } from 'node:crypto';
import { duplicate, type FieldError, forbidden, invalid, type Path, required } from '#apimachinery/validation/field';
import { isDomainPrefixedPath } from '#apimachinery/validation/names';
import type { OidcConfig } from '#cmd/server-config';
import type { ClaimOrExpression } from '#plugins/authentication/oidc';
import { FieldReader, parseStructured } from './structured-file.ts';

/** What an AuthenticationConfiguration says. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly OidcConfig[];
  /** undefined: the flags say it. */
  readonly anonymous: { readonly enabled: boolean; readonly paths: readonly string[] } | undefined;
}

/** Upstream: apiserver/plugin/pkg/authenticator/token/oidc/oidc.go (AllValidSigningAlgorithms). */
export const signingAlgorithms = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];

/**
 * `--authentication-config`: issuers of JSON web tokens, and who may be anonymous. Throws with all that is wrong, one line
 * each. Upstream: apiserver/pkg/apis/apiserver/validation/validation.go (ValidateAuthenticationConfiguration).
 */
export function parseAuthenticationConfiguration(text: string, disallowedIssuers: readonly string[]): AuthenticationConfiguration {
  const errors: FieldError[] = [];
  const root = new FieldReader(
    parseStructured(text, 'apiserver.config.k8s.io', 'AuthenticationConfiguration', ['v1', 'v1beta1', 'v1alpha1']),
    undefined,
    errors,
  );
  const seen = new Set<string>();
  const jwt = root.objects('jwt').map((reader) => {
    const config = readIssuer(reader, disallowedIssuers, errors);
    for (const url of [config.issuer, config.discoveryUrl]) {
      if (url && seen.has(url)) errors.push(duplicate(reader.at('issuer').child(url === config.issuer ? 'url' : 'discoveryURL'), url));
      if (url) seen.add(url);
    }
    return config;
  });
  const anonymous = root.has('anonymous') ? readAnonymous(root.object('anonymous'), errors) : undefined;
  root.done();
  if (errors.length > 0) throw new Error(errors.map(String).join('\n'));
  return { jwt, anonymous };
}

function readAnonymous(reader: FieldReader, errors: FieldError[]): { enabled: boolean; paths: string[] } {
  const enabled = reader.flag('enabled', false);
  const paths = reader.objects('conditions').map((condition) => {
    const path = condition.requiredText('path');
    condition.done();
    return path;
  });
  if (!enabled && paths.length > 0)
    errors.push(invalid(reader.at('conditions'), paths, 'enabled should be set to true when conditions are defined'));
  reader.done();
  return { enabled, paths };
}

function readIssuer(reader: FieldReader, disallowed: readonly string[], errors: FieldError[]): OidcConfig {
  const issuer = reader.object('issuer');
  const url = issuer.requiredText('url');
  checkUrl(url, disallowed, issuer.at('url'), errors);
  const discoveryUrl = issuer.text('discoveryURL');
  checkUrl(discoveryUrl, [], issuer.at('discoveryURL'), errors);
  if (discoveryUrl !== '' && trimSlash(discoveryUrl) === trimSlash(url))
    errors.push(invalid(issuer.at('discoveryURL'), discoveryUrl, 'discoveryURL must be different from URL'));
  const certificateAuthority = issuer.text('certificateAuthority');
  if (certificateAuthority !== '' && !isBundle(certificateAuthority))
    errors.push(invalid(issuer.at('certificateAuthority'), '<omitted>', 'data does not contain any valid RSA or ECDSA certificates'));
  const audiences = issuer.texts('audiences');
  checkAudiences(audiences, issuer.text('audienceMatchPolicy'), issuer, errors);
  if (issuer.text('egressSelectorType') !== '')
    errors.push(forbidden(issuer.at('egressSelectorType'), 'egress selection is not implemented yet'));
  issuer.done();

  const requiredClaims = readClaimRules(reader, errors);
  const mappings = reader.object('claimMappings');
  const username = readMapping(mappings.object('username'), true, true, errors);
  const groups = mappings.has('groups') ? readMapping(mappings.object('groups'), true, false, errors) : undefined;
  const uid = mappings.has('uid') ? readMapping(mappings.object('uid'), false, false, errors) : undefined;
  readExtra(mappings, errors);
  mappings.done();
  for (const rule of reader.objects('userValidationRules')) refuseExpression(rule, 'expression', errors);
  reader.done();
  return {
    issuer: url,
    discoveryUrl: discoveryUrl || undefined,
    certificateAuthority: certificateAuthority || undefined,
    audiences,
    signingAlgorithms,
    username: username ?? {},
    groups: groups?.claim ? groups : undefined,
    uid: uid?.claim ? uid : undefined,
    extra: [],
    requiredClaims,
    claimRules: [],
    userRules: [],
  };
}

function checkUrl(text: string, disallowed: readonly string[], path: Path, errors: FieldError[]): void {
  if (text === '') return;
  if (disallowed.includes(text))
    errors.push(invalid(path, text, `URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`));
  if (!URL.canParse(text)) {
    errors.push(invalid(path, text, 'must be a URL'));
    return;
  }
  const url = new URL(text);
  if (url.protocol !== 'https:') errors.push(invalid(path, text, 'URL scheme must be https'));
  if (url.username !== '' || url.password !== '') errors.push(invalid(path, text, 'URL must not contain a username or password'));
  if (url.search !== '') errors.push(invalid(path, text, 'URL must not contain a query'));
  if (url.hash !== '') errors.push(invalid(path, text, 'URL must not contain a fragment'));
}

function checkAudiences(audiences: readonly string[], policy: string, issuer: FieldReader, errors: FieldError[]): void {
  const path = issuer.at('audiences');
  if (audiences.length === 0) errors.push(required(path, `at least one ${path.toString()} is required`));
  for (const [i, audience] of audiences.entries()) {
    if (audience === '') errors.push(required(path.index(i)));
    else if (audiences.indexOf(audience) < i) errors.push(duplicate(path.index(i), audience));
  }
  if (audiences.length > 1 && policy !== 'MatchAny')
    errors.push(invalid(issuer.at('audienceMatchPolicy'), policy, 'audienceMatchPolicy must be MatchAny for multiple audiences'));
  if (audiences.length === 1 && policy !== '' && policy !== 'MatchAny')
    errors.push(invalid(issuer.at('audienceMatchPolicy'), policy, 'audienceMatchPolicy must be empty or MatchAny for single audience'));
}

function readClaimRules(reader: FieldReader, errors: FieldError[]): Map<string, string> {
  const claims = new Map<string, string>();
  for (const rule of reader.objects('claimValidationRules')) {
    if (rule.has('expression')) {
      refuseExpression(rule, 'expression', errors);
      continue;
    }
    const claim = rule.text('claim');
    if (claim === '') errors.push(required(rule.path as Path, 'claim or expression is required'));
    else if (claims.has(claim)) errors.push(duplicate(rule.at('claim'), claim));
    if (rule.text('message') !== '')
      errors.push(invalid(rule.at('message'), rule.text('message'), 'may not be specified when claim is set'));
    claims.set(claim, rule.text('requiredValue'));
    rule.done();
  }
  return claims;
}

function readMapping(reader: FieldReader, hasPrefix: boolean, isRequired: boolean, errors: FieldError[]): ClaimOrExpression | undefined {
  if (reader.has('expression')) {
    refuseExpression(reader, 'expression', errors);
    return undefined;
  }
  const claim = reader.text('claim');
  if (claim === '' && isRequired) errors.push(required(reader.path as Path, 'claim or expression is required'));
  if (hasPrefix && claim !== '' && !reader.has('prefix'))
    errors.push(
      required(reader.at('prefix'), 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'),
    );
  const prefix = hasPrefix ? reader.text('prefix') : '';
  reader.done();
  return { claim, prefix };
}

function readExtra(mappings: FieldReader, errors: FieldError[]): void {
  for (const entry of mappings.objects('extra')) {
    const key = entry.requiredText('key');
    if (key !== '') errors.push(...isDomainPrefixedPath(entry.at('key'), key));
    if (key !== key.toLowerCase()) errors.push(invalid(entry.at('key'), key, 'must be lowercase'));
    refuseExpression(entry, 'valueExpression', errors);
  }
}

function refuseExpression(reader: FieldReader, field: string, errors: FieldError[]): void {
  if (reader.requiredText(field) !== '') errors.push(forbidden(reader.at(field), 'CEL expressions are not implemented yet'));
}

function isBundle(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

const trimSlash = (url: string): string => url.replace(/\/$/, '');
