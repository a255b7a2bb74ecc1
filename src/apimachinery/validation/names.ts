/**
 * Rules for names and short strings. Each `is…` function returns upstream's messages, and an empty list for a valid value. Upstream:
 * apimachinery/pkg/util/validation and pkg/api/validate/content. Lengths are in UTF-8 bytes.
 */
import { type FieldError, type Path, invalid, required } from './field.ts';

const valid: readonly string[] = [];

export const dns1123LabelMaxLength = 63;
export const dns1035LabelMaxLength = 63;
export const dns1123SubdomainMaxLength = 253;
export const labelValueMaxLength = 63;

export function maxLenError(length: number): string {
  return `must be no more than ${length} characters`;
}

/** Returns the newer message, for label keys and values. */
function maxBytesError(length: number): string {
  return `must be no more than ${length} bytes`;
}

export function emptyError(): string {
  return 'must be non-empty';
}

export function regexError(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  return `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;
}

export function inclusiveRangeError(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

/** A rule with one pattern. */
interface Rule {
  readonly pattern: string;
  readonly regex: RegExp;
  readonly message: string;
}

function rule(pattern: string, message: string): Rule {
  return { pattern, regex: new RegExp(`^(?:${pattern})$`), message };
}

/** True if the value is longer than `max` UTF-8 bytes. */
function longer(value: string, max: number): boolean {
  return value.length > max || (value.length * 3 > max && Buffer.byteLength(value) > max);
}

const dns1123LabelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123Label = rule(
  dns1123LabelFormat,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
);
const dns1123SubdomainFormat = `${dns1123LabelFormat}(\\.${dns1123LabelFormat})*`;
const dns1123Subdomain = rule(
  dns1123SubdomainFormat,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
);
const underscoreLabelFormat = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const underscoreSubdomain = rule(
  `${underscoreLabelFormat}(\\.${underscoreLabelFormat})*`,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
);
const caselessSubdomainMessage =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const caselessSubdomainRegex = new RegExp(`^(?:${dns1123SubdomainFormat})$`, 'i');
const wildcardSubdomain = rule(
  `\\*\\.${dns1123SubdomainFormat}`,
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
);
const dns1035Label = rule(
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
);
const labelKeyFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelKey = rule(
  labelKeyFormat,
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
);
/** Valid keys of at most 63 characters, so that no part can be too long. */
const plainLabelKey =
  /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const labelValue = rule(
  `(${labelKeyFormat})?`,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
);
const cIdentifier = rule(
  '[A-Za-z_][A-Za-z0-9_]*',
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
);
const percent = rule('[0-9]+%', "a valid percent string must be a numeric string followed by an ending '%'");
const httpHeaderName = rule('[-A-Za-z0-9]+', "a valid HTTP header must consist of alphanumeric characters or '-'");
const httpPath = rule(`[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+`, 'Invalid path');
const envVarName = rule(
  '[-._a-zA-Z][-._a-zA-Z0-9]*',
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
);
const configMapKey = rule('[-._a-zA-Z0-9]+', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'");

function broken(value: string, { regex, message, pattern }: Rule, ...examples: string[]): readonly string[] {
  return regex.test(value) ? valid : [regexError(message, pattern, ...examples)];
}

export function isDNS1123Label(value: string): readonly string[] {
  const tooLong = longer(value, dns1123LabelMaxLength);
  const matches = dns1123Label.regex.test(value);
  if (!tooLong && matches) return valid;
  const errors: string[] = [];
  if (tooLong) errors.push(maxLenError(dns1123LabelMaxLength));
  if (!matches) {
    // A subdomain that is not a label has a dot.
    errors.push(
      dns1123Subdomain.regex.test(value)
        ? 'must not contain dots'
        : regexError(dns1123Label.message, dns1123Label.pattern, 'my-name', '123-abc'),
    );
  }
  return errors;
}

export function isDNS1123Subdomain(value: string): readonly string[] {
  return subdomain(value, dns1123Subdomain, maxLenError, 'example.com');
}

/** Like `isDNS1123Subdomain`, with underscores. */
export function isDNS1123SubdomainWithUnderscore(value: string): readonly string[] {
  return subdomain(value, underscoreSubdomain, maxLenError, 'example.com');
}

/** Like `isDNS1123Subdomain`, with upper case. */
export function isDNS1123SubdomainCaseless(value: string): readonly string[] {
  const anyCase = { pattern: dns1123Subdomain.pattern, regex: caselessSubdomainRegex, message: caselessSubdomainMessage };
  return subdomain(value, anyCase, maxBytesError, 'Example.com');
}

export function isWildcardDNS1123Subdomain(value: string): readonly string[] {
  return subdomain(value, wildcardSubdomain, maxLenError, '*.example.com');
}

function subdomain(value: string, format: Rule, lengthError: (length: number) => string, example: string): readonly string[] {
  const errors = broken(value, format, example);
  return longer(value, dns1123SubdomainMaxLength) ? [lengthError(dns1123SubdomainMaxLength), ...errors] : errors;
}

export function isDNS1035Label(value: string): readonly string[] {
  const errors = broken(value, dns1035Label, 'my-name', 'abc-123');
  return longer(value, dns1035LabelMaxLength) ? [maxLenError(dns1035LabelMaxLength), ...errors] : errors;
}

/** Validates a label key: `name`, or `dns.prefix/name`. Upstream's content.IsLabelKey. */
export function isQualifiedName(value: string): readonly string[] {
  // Fast path: most keys have no prefix and are short.
  if (value.length <= 63 && plainLabelKey.test(value)) return valid;
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${regexError(labelKey.message, labelKey.pattern, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1)!;
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === '') errors.push(`prefix part ${emptyError()}`);
    else for (const message of subdomain(prefix, dns1123Subdomain, maxBytesError, 'example.com')) errors.push(`prefix part ${message}`);
  }
  if (name === '') errors.push(`name part ${emptyError()}`);
  else if (longer(name, 63)) errors.push(`name part ${maxBytesError(63)}`);
  for (const message of broken(name, labelKey, 'MyName', 'my.name', '123-abc')) errors.push(`name part ${message}`);
  return errors;
}

export function isValidLabelValue(value: string): readonly string[] {
  const errors = broken(value, labelValue, 'MyValue', 'my_value', '12345');
  return longer(value, labelValueMaxLength) ? [maxBytesError(labelValueMaxLength), ...errors] : errors;
}

export function isCIdentifier(value: string): readonly string[] {
  return broken(value, cIdentifier, 'my_name', 'MY_NAME', 'MyName');
}

export function isInRange(value: number, low: number, high: number): readonly string[] {
  return value >= low && value <= high ? valid : [inclusiveRangeError(low, high)];
}

export function isValidPortNum(port: number): readonly string[] {
  return isInRange(port, 1, 65535);
}

export function isValidUserID(uid: number | bigint): readonly string[] {
  return isInRange(Number(uid), 0, 2_147_483_647);
}

export function isValidGroupID(gid: number | bigint): readonly string[] {
  return isInRange(Number(gid), 0, 2_147_483_647);
}

export function isValidPortName(port: string): readonly string[] {
  const errors: string[] = [];
  if (longer(port, 15)) errors.push(maxLenError(15));
  if (!/^[-a-z0-9]+$/.test(port)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(port)) errors.push('must contain at least one letter (a-z)');
  if (port.includes('--')) errors.push('must not contain consecutive hyphens');
  if (port.startsWith('-') || port.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

export function isValidPercent(value: string): readonly string[] {
  return broken(value, percent, '1%', '93%');
}

export function isHTTPHeaderName(value: string): readonly string[] {
  return broken(value, httpHeaderName, 'X-Header-Name');
}

/** Validates the strict form; since RelaxedEnvironmentVariableValidation the API uses `isRelaxedEnvVarName`. */
export function isEnvVarName(value: string): readonly string[] {
  return [...broken(value, envVarName, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1'), ...hasChDirPrefix(value)];
}

export function isRelaxedEnvVarName(value: string): readonly string[] {
  if (value === '') return [`environment variable name ${emptyError()}`];
  return /^[ -<>-~]*$/.test(value)
    ? valid
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** Validates keys of ConfigMaps and Secrets. */
export function isConfigMapKey(value: string): readonly string[] {
  const errors = [...broken(value, configMapKey, 'key.name', 'KEY_NAME', 'key-name'), ...hasChDirPrefix(value)];
  if (longer(value, dns1123SubdomainMaxLength)) errors.unshift(maxLenError(dns1123SubdomainMaxLength));
  return errors;
}

function hasChDirPrefix(value: string): readonly string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : valid;
}

/** Validates a canonical integer: `0`, `-12`; no `+`, no leading zeros. */
export function isDecimalInteger(value: string): readonly string[] {
  if (value === '') return [emptyError()];
  return /^(?:0|-?[1-9][0-9]*)$/.test(value) ? valid : ['must be a valid decimal integer in canonical form'];
}

/** Validates a path segment of a URL. Empty names and any length are accepted. */
export function isValidPathSegmentName(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return isValidPathSegmentPrefix(name);
}

/** Validates the prefix of a path segment. */
export function isValidPathSegmentPrefix(name: string): readonly string[] {
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

/** Validates an object's name; `prefix` is true for a generateName, to which characters will be added. */
export type ValidateNameFunc = (name: string, prefix: boolean) => readonly string[];

/** Replaces a trailing dash and the character before it by `a`, as upstream. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

export const nameIsDNSSubdomain: ValidateNameFunc = (name, prefix) => isDNS1123Subdomain(prefix ? maskTrailingDash(name) : name);
/**
 * The rule of kinds with declarative validation of names, which leaves a generateName to the generic registry. Upstream:
 * apimachinery/pkg/api/validate (LongName).
 */
export const longName: ValidateNameFunc = (name, prefix) =>
  prefix
    ? isValidPathSegmentPrefix(name)
    : isDNS1123Subdomain(name).map((message) => message.replace(/^(must be no more than \d+) characters$/, '$1 bytes'));
export const nameIsDNSLabel: ValidateNameFunc = (name, prefix) => isDNS1123Label(prefix ? maskTrailingDash(name) : name);
export const nameIsDNS1035Label: ValidateNameFunc = (name, prefix) => isDNS1035Label(prefix ? maskTrailingDash(name) : name);
export const validatePathSegmentName: ValidateNameFunc = (name, prefix) =>
  prefix ? isValidPathSegmentPrefix(name) : isValidPathSegmentName(name);
export const validateNamespaceName = nameIsDNSLabel;
export const validateServiceAccountName = nameIsDNSSubdomain;

/** Requires a domain of at least three segments. */
export function isFullyQualifiedName(path: Path, name: string): FieldError[] {
  if (name === '') return [required(path)];
  const errors = isDNS1123Subdomain(name);
  if (errors.length > 0) return [invalid(path, name, errors.join(','))];
  return name.split('.').length < 3 ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')] : [];
}

/** Requires a domain of at least two segments; a trailing dot is allowed. */
export function isFullyQualifiedDomainName(path: Path, name: string): FieldError[] {
  if (name === '') return [required(path)];
  const domain = name.endsWith('.') ? name.slice(0, -1) : name;
  const errors = isDNS1123Subdomain(domain);
  if (errors.length > 0) return [invalid(path, domain, errors.join(','))];
  const labels = domain.split('.');
  if (labels.length < 2) return [invalid(path, domain, 'should be a domain with at least two segments separated by dots')];
  for (const label of labels) {
    const wrong = isDNS1123Label(label);
    if (wrong.length > 0) return [invalid(path, label, wrong.join(','))];
  }
  return [];
}

/** Requires `acme.io/foo`: a domain, and after the first slash an HTTP path. */
export function isDomainPrefixedPath(path: Path, value: string): FieldError[] {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  const host = value.slice(0, slash);
  const rest = value.slice(slash + 1);
  if (slash < 0 || host === '' || rest === '') return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const errors = isDNS1123Subdomain(host).map((message) => invalid(path, host, message));
  if (!httpPath.regex.test(rest)) errors.push(invalid(path, rest, regexError(httpPath.message, httpPath.pattern)));
  return errors;
}

/** Requires `acme.io/foo`: a label key with a prefix. */
export function isDomainPrefixedKey(path: Path, key: string): FieldError[] {
  if (key === '') return [required(path)];
  const errors = isQualifiedName(key).map((message) => invalid(path, key, message));
  if (errors.length > 0) return errors;
  return key.includes('/') ? [] : [invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}
