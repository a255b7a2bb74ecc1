import { Buffer } from 'node:buffer';
import { type GoUrl, parseUrl, UrlError } from '../runtime/url.ts';
import { addErrors, type FieldError, invalid, type Path, required } from './field.ts';
import { readCertificates } from '../x509/certificate-pool.ts';
import { pemBlocks } from '../x509/pem.ts';
import { isDNS1123Subdomain, isValidPortNum } from './names.ts';

const form = '; desired format: https://host[/path]';

/** Validates the URL of a webhook. Upstream: apiserver/pkg/util/webhook/validation.go. */
export function validateWebhookURL(path: Path, text: string): FieldError[] {
  let url: GoUrl;
  try {
    url = parseUrl(text);
  } catch (error) {
    if (error instanceof UrlError) return [required(path, `url must be a valid URL: ${error.message}${form}`)];
    throw error;
  }
  const { scheme, user, host, fragment, query } = url;
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === '') errors.push(invalid(path, host, `host must be specified${form}`));
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment) errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query) errors.push(invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** Validates the service reference of a webhook. */
export function validateWebhookService(
  path: Path,
  { namespace = '', name = '', path: urlPath, port = 443 }: { namespace?: string; name?: string; path?: string; port?: number },
): FieldError[] {
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(path.child('name')));
  if (namespace === '') errors.push(required(path.child('namespace')));
  const portErrors = isValidPortNum(port);
  if (portErrors.length > 0) errors.push(invalid(path.child('port'), port, `port is not valid: ${portErrors.join(', ')}`));
  if (urlPath !== undefined && urlPath !== '' && urlPath !== '/') addErrors(errors, validateUrlPath(path.child('path'), urlPath));
  return errors;
}

function validateUrlPath(path: Path, urlPath: string): FieldError[] {
  if (urlPath === '//') return [invalid(path, urlPath, 'segment[0] may not be empty')];
  const errors = urlPath.startsWith('/') ? [] : [invalid(path, urlPath, "must start with a '/'")];
  const steps = urlPath.slice(1).replace(/\/$/, '').split('/');
  for (const [i, step] of steps.entries()) {
    if (step === '') errors.push(invalid(path, urlPath, `segment[${i}] may not be empty`));
    else for (const message of isDNS1123Subdomain(step)) errors.push(invalid(path, urlPath, `segment[${i}]: ${message}`));
  }
  return errors;
}

/** Validates a base64 PEM bundle, which must contain a parsable certificate. An empty one is valid. */
export function validateCABundle(path: Path, caBundle: string | undefined): FieldError[] {
  const text = Buffer.from(caBundle ?? '', 'base64').toString('latin1');
  if (text === '') return [];
  const problem = trustedCertificatesProblem(text);
  return problem === undefined ? [] : [invalid(path, caBundle, `unable to load root certificates: ${problem}`)];
}

/** Returns why a bundle has no usable certificate. Upstream: client-go/transport (rootCertPool, createErrorParsingCAData). */
function trustedCertificatesProblem(pem: string): string | undefined {
  const [first] = pemBlocks(pem);
  if (!first) return 'unable to parse bytes as PEM block';
  const { certificates, problems } = readCertificates(pem);
  if (certificates.length > 0) return undefined;
  return `failed to parse certificate: ${problems[0] ?? 'no valid certificate authority data seen'}`;
}
