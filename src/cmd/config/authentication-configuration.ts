import { X509Certificate } from 'node:crypto';
import { addErrors, duplicate, type FieldError, invalid, type Path, required } from '#apimachinery/validation/field';
import { isDomainPrefixedPath } from '#apimachinery/validation/names';
import type { OidcConfig } from '#cmd/server-config';
import type { ClaimOrExpression } from '#plugins/authentication/oidc';
import type { CelType } from '#apiserver/cel/check/types';
import { compileExpression, resultTypes } from './cel-expressions.ts';
import { FieldReader, parseStructured } from './structured-file.ts';

/** Contents of an AuthenticationConfiguration. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly OidcConfig[];
  /** Anonymous access; undefined: the flags determine it. */
  readonly anonymous: { readonly enabled: boolean; readonly paths: readonly string[] } | undefined;
}

const withoutEgressSelector =
  'egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is disabled';

/** Upstream: apiserver/plugin/pkg/authenticator/token/oidc/oidc.go (AllValidSigningAlgorithms). */
export const signingAlgorithms = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];

/**
 * Parses the file of `--authentication-config`: issuers of JSON web tokens, and anonymous access. Throws with all problems, one per line.
 * `hasEgressSelector` is the feature gate StructuredAuthenticationConfigurationEgressSelector. Upstream:
 * apiserver/pkg/apis/apiserver/validation/validation.go (ValidateAuthenticationConfiguration).
 */
export function parseAuthenticationConfiguration(
  text: string,
  disallowedIssuers: readonly string[],
  { hasEgressSelector = true }: { readonly hasEgressSelector?: boolean } = {},
): AuthenticationConfiguration {
  const errors: FieldError[] = [];
  const root = new FieldReader(
    parseStructured(text, 'apiserver.config.k8s.io', 'AuthenticationConfiguration', ['v1', 'v1beta1', 'v1alpha1']),
    undefined,
    errors,
  );
  const seen = new Set<string>();
  const jwt = root.objects('jwt').map((reader) => {
    const config = readIssuer(reader, disallowedIssuers, errors, hasEgressSelector);
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

function readIssuer(reader: FieldReader, disallowed: readonly string[], errors: FieldError[], hasEgressSelector: boolean): OidcConfig {
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
  const egress = issuer.text('egressSelectorType');
  if (egress !== '' && !hasEgressSelector) errors.push(invalid(issuer.at('egressSelectorType'), egress, withoutEgressSelector));
  if (egress !== '' && egress !== 'controlplane' && egress !== 'cluster')
    errors.push(invalid(issuer.at('egressSelectorType'), egress, 'egress selector must be either controlplane or cluster'));
  issuer.done();

  const { requiredClaims, claimRules } = readClaimRules(reader, errors);
  const mappings = reader.object('claimMappings');
  const username = mappings.object('username');
  const config: OidcConfig = {
    issuer: url,
    discoveryUrl: discoveryUrl || undefined,
    certificateAuthority: certificateAuthority || undefined,
    egressSelectorType: egress === 'controlplane' || egress === 'cluster' ? egress : undefined,
    audiences,
    signingAlgorithms,
    username: readMapping(username, { prefix: true, required: true, types: resultTypes.string }, errors),
    groups: mappings.has('groups')
      ? readMapping(mappings.object('groups'), { prefix: true, required: false, types: resultTypes.strings }, errors)
      : undefined,
    uid: mappings.has('uid')
      ? readMapping(mappings.object('uid'), { prefix: false, required: false, types: resultTypes.string }, errors)
      : undefined,
    extra: readExtra(mappings, errors),
    requiredClaims,
    claimRules,
    userRules: reader.objects('userValidationRules').flatMap((rule) => readUserRule(rule, errors)),
  };
  mappings.done();
  reader.done();
  checkVerifiedEmail(reader, username, errors);
  return config;
}

/**
 * Requires that an expression which uses the mail address also checks that it is verified. Otherwise a user who can choose a mail address
 * could impersonate another user.
 */
function checkVerifiedEmail(reader: FieldReader, username: FieldReader, errors: FieldError[]): void {
  const expression = username.text('expression');
  if (!/\bclaims\s*\??(\.\s*email\b|\[\s*\??\s*['"]email['"])/.test(expression)) return;
  const all = [
    expression,
    ...reader
      .object('claimMappings')
      .objects('extra')
      .map((entry) => entry.text('valueExpression')),
    ...reader.objects('claimValidationRules').map((rule) => rule.text('expression')),
  ];
  if (all.some((text) => text.includes('email_verified'))) return;
  errors.push(
    invalid(
      username.at('expression'),
      expression,
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ),
  );
}

function readUserRule(rule: FieldReader, errors: FieldError[]): OidcConfig['userRules'][number] | [] {
  const text = rule.requiredText('expression');
  const message = rule.text('message') || undefined;
  rule.done();
  const compiled = text === '' ? undefined : compileExpression('user', text, resultTypes.boolean, rule.at('expression'), errors);
  if (!compiled) return [];
  return { text, message, expression: ({ name, uid = '', groups, extra = {} }) => compiled({ username: name, uid, groups, extra }) };
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

function readClaimRules(reader: FieldReader, errors: FieldError[]): Pick<OidcConfig, 'requiredClaims' | 'claimRules'> {
  const requiredClaims = new Map<string, string>();
  const claimRules: OidcConfig['claimRules'][number][] = [];
  for (const rule of reader.objects('claimValidationRules')) {
    const claim = rule.text('claim');
    const text = rule.text('expression');
    const message = rule.text('message');
    const requiredValue = rule.text('requiredValue');
    rule.done();
    if (claim !== '' && text !== '') errors.push(invalid(rule.path as Path, claim, "claim and expression can't both be set"));
    else if (claim !== '') {
      if (requiredClaims.has(claim)) errors.push(duplicate(rule.at('claim'), claim));
      if (message !== '') errors.push(invalid(rule.at('message'), message, 'may not be specified when claim is set'));
      requiredClaims.set(claim, requiredValue);
    } else if (text !== '') {
      if (requiredValue !== '')
        errors.push(invalid(rule.at('requiredValue'), requiredValue, 'may not be specified when expression is set'));
      if (claimRules.some((one) => one.text === text)) errors.push(duplicate(rule.at('expression'), text));
      const expression = compileExpression('claims', text, resultTypes.boolean, rule.at('expression'), errors);
      if (expression) claimRules.push({ expression, text, message: message || undefined });
    } else errors.push(required(rule.path as Path, 'claim or expression is required'));
  }
  return { requiredClaims, claimRules };
}

interface MappingRules {
  readonly prefix: boolean;
  readonly required: boolean;
  readonly types: readonly CelType[];
}

function readMapping(reader: FieldReader, rules: MappingRules, errors: FieldError[]): ClaimOrExpression {
  const claim = reader.text('claim');
  const text = reader.text('expression');
  const prefix = rules.prefix ? reader.text('prefix') : '';
  const hasPrefix = rules.prefix && reader.has('prefix');
  reader.done();
  if (claim !== '' && text !== '') errors.push(invalid(reader.path as Path, '', "claim and expression can't both be set"));
  else if (claim === '' && text === '' && rules.required) errors.push(required(reader.path as Path, 'claim or expression is required'));
  if (text !== '') {
    if (hasPrefix) errors.push(invalid(reader.at('prefix'), prefix, 'may not be specified when expression is set'));
    return { expression: compileExpression('claims', text, rules.types, reader.at('expression'), errors) };
  }
  if (rules.prefix && claim !== '' && !hasPrefix)
    errors.push(
      required(reader.at('prefix'), 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'),
    );
  return { claim, prefix };
}

function readExtra(mappings: FieldReader, errors: FieldError[]): OidcConfig['extra'][number][] {
  const seen = new Set<string>();
  return mappings.objects('extra').flatMap((entry) => {
    const key = entry.requiredText('key');
    const text = entry.requiredText('valueExpression');
    entry.done();
    if (key !== '') addErrors(errors, isDomainPrefixedPath(entry.at('key'), key));
    if (key !== key.toLowerCase()) errors.push(invalid(entry.at('key'), key, 'must be lowercase'));
    const domain = key.split('/', 1)[0] ?? '';
    if (/(^|\.)(k8s|kubernetes)\.io$/.test(domain))
      errors.push(invalid(entry.at('key'), key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'));
    if (seen.has(key)) errors.push(duplicate(entry.at('key'), key));
    seen.add(key);
    const value = text === '' ? undefined : compileExpression('claims', text, resultTypes.strings, entry.at('valueExpression'), errors);
    return value ? { key, value } : [];
  });
}

function isBundle(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

const trimSlash = (url: string): string => url.replace(/\/$/, '');
